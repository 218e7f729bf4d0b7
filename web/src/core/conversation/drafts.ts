/**
 * The draft of each session: stored locally at once and on the server a little later, so that neither
 * a reload nor another device loses it. Also the prompts sent before, for the Up key.
 */
import type { TextStore, Timer, World } from "../connection/world.ts";

const SERVER_MS = 1_500;
const HISTORY = 100;

export class Drafts {
  readonly #keep: TextStore;
  readonly #world: World;
  readonly #upload: (session: string, text: string) => void;
  readonly #timers = new Map<string, Timer>();
  readonly #pending = new Map<string, string>();

  constructor(keep: TextStore, world: World, upload: (session: string, text: string) => void) {
    this.#keep = keep;
    this.#world = world;
    this.#upload = upload;
  }

  /** The local draft of a session; null if there is none. */
  read(session: string): string | null {
    return this.#keep.get(draftName(session));
  }

  /** Store a draft. */
  write(session: string, text: string): void {
    this.#keep.set(draftName(session), text);
    this.#timers.get(session)?.cancel();
    this.#timers.set(session, this.#world.after(SERVER_MS, () => this.#send(session, text)));
    this.#pending.set(session, text);
  }

  /** The page closes: send pending drafts to the server now. */
  flush(): void {
    for (const [session, text] of this.#pending) this.#send(session, text);
  }

  #send(session: string, text: string): void {
    this.#timers.get(session)?.cancel();
    this.#pending.delete(session);
    this.#upload(session, text);
  }

  /** The prompt was sent: delete its draft, and make the text available with the Up key. */
  sent(session: string, text: string): void {
    this.write(session, "");
    this.#remember(text);
  }

  /** Prompts that were sent from this device, newest first. */
  history(): readonly string[] {
    try {
      const stored = JSON.parse(this.#keep.get("fairlead.history") ?? "[]") as unknown;
      return Array.isArray(stored) ? stored.filter((text) => typeof text === "string") : [];
    } catch {
      return [];
    }
  }

  #remember(text: string): void {
    if (text.trim() === "") return;
    const texts = [text, ...this.history().filter((sent) => sent !== text)].slice(0, HISTORY);
    this.#keep.set("fairlead.history", JSON.stringify(texts));
  }
}

function draftName(session: string): string {
  return `fairlead.draft.${session}`;
}
