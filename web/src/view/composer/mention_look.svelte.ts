/**
 * Asks the server what the @ mentions of a text would attach, while the user types: only the last text
 * counts, and the last answer is shown until the next one, so that the chips do not flicker.
 */
import { onMachine } from "../../core/sessions/machines.ts";
import type { App } from "../app.svelte.ts";

export interface Mentioned {
  /** As it was typed, with the @. */
  readonly text: string;
  readonly kind: "file" | "folder" | "resource" | "missing";
  readonly path: string;
  /** Whether it is below the session's own folders. */
  readonly inside: boolean;
  readonly size: number | null;
}

/** Where the text would be sent. */
export type Place = { readonly session: string } | { readonly cwd: string; readonly node?: string };

const PAUSE_MS = 120;

export class MentionLook {
  mentions = $state.raw<readonly Mentioned[]>([]);
  /** Whether there are more mentions than were looked up. */
  partial = $state(false);
  failed = $state(false);
  /** Whether the server has not answered for the last text. */
  looking = $state(false);
  #asked = "";
  #node = "";
  #timer: ReturnType<typeof setTimeout> | undefined;
  #going: AbortController | null = null;
  readonly #app: App;

  constructor(app: App) {
    this.#app = app;
  }

  look(text: string, place: Place): void {
    const { node = "", ...where } = { node: "", ...place };
    const asked = /@\S/.test(text) ? JSON.stringify({ text, ...where }) : "";
    if (asked === this.#asked && node === this.#node) return;
    this.#node = node;
    this.#asked = asked;
    clearTimeout(this.#timer);
    this.#going?.abort();
    this.looking = asked !== "";
    if (asked === "") {
      this.mentions = [];
      this.failed = this.partial = false;
    } else this.#timer = setTimeout(() => void this.#ask(asked), this.mentions.length ? PAUSE_MS : 0);
  }

  async #ask(asked: string): Promise<void> {
    const going = (this.#going = new AbortController());
    try {
      const response = await this.#app.call(`/api/mentions${onMachine(this.#node).replace("&", "?")}`, { method: "POST", body: asked, signal: going.signal });
      const body = (await response.json()) as { mentions?: readonly Mentioned[]; whole?: boolean };
      if (asked !== this.#asked) return;
      this.failed = !response.ok;
      this.mentions = body.mentions ?? [];
      this.partial = body.whole === false;
    } catch {
      if (asked !== this.#asked) return;
      this.failed = true;
      this.mentions = [];
    }
    this.looking = false;
  }
}
