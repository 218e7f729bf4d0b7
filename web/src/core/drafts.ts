/**
 * What was typed and not sent, for each session: kept here at once and on the server a little
 * later, so that neither a reload nor another device loses it. Also the prompts sent before, for Up.
 */
import type { Keep, Timer, World } from "./world.ts";

const SERVER_MS = 1_500;
const HISTORY = 100;

export class Drafts {
  readonly #keep: Keep;
  readonly #world: World;
  readonly #tell: (session: string, text: string) => void;
  readonly #timers = new Map<string, Timer>();
  readonly #untold = new Map<string, string>();

  constructor(keep: Keep, world: World, tell: (session: string, text: string) => void) {
    this.#keep = keep;
    this.#world = world;
    this.#tell = tell;
  }

  /** What was typed into a session here; null if nothing is known of it here. */
  read(session: string): string | null {
    return this.#keep.get(draftName(session));
  }

  /** Keep what is typed. */
  write(session: string, text: string): void {
    this.#keep.set(draftName(session), text);
    this.#timers.get(session)?.cancel();
    this.#timers.set(session, this.#world.after(SERVER_MS, () => this.#told(session, text)));
    this.#untold.set(session, text);
  }

  /** The page goes away: the server is told now what it would have been told soon. */
  flush(): void {
    for (const [session, text] of this.#untold) this.#told(session, text);
  }

  #told(session: string, text: string): void {
    this.#timers.get(session)?.cancel();
    this.#untold.delete(session);
    this.#tell(session, text);
  }

  /** It was sent: there is no draft any more, and the text can be had back with Up. */
  sent(session: string, text: string): void {
    this.write(session, "");
    this.#remember(text);
  }

  /** Prompts that were sent from here, newest first. */
  history(): readonly string[] {
    try {
      const kept = JSON.parse(this.#keep.get("fairlead.history") ?? "[]") as unknown;
      return Array.isArray(kept) ? kept.filter((one) => typeof one === "string") : [];
    } catch {
      return [];
    }
  }

  #remember(text: string): void {
    if (text.trim() === "") return;
    const kept = [text, ...this.history().filter((one) => one !== text)].slice(0, HISTORY);
    this.#keep.set("fairlead.history", JSON.stringify(kept));
  }
}

function draftName(session: string): string {
  return `fairlead.draft.${session}`;
}
