/**
 * Asks the server for names that fit, while somebody types: one question at a time, only the last
 * one counts, and what was found stays until the next answer, so that the list does not flicker.
 */
import type { App } from "../app.svelte.ts";
import type { FoundName } from "./mentions.ts";

const PAUSE_MS = 70;

export class NameSearch {
  found = $state.raw<readonly FoundName[]>([]);
  /** Whether the folder has more files than were looked at. */
  partial = $state(false);
  #asked: string | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #going: AbortController | null = null;
  readonly #app: App;
  readonly #session: string;

  constructor(app: App, session: string) {
    this.#app = app;
    this.#session = session;
  }

  /** Look for letters; null ends the search. */
  look(letters: string | null): void {
    if (letters === this.#asked) return;
    this.#asked = letters;
    clearTimeout(this.#timer);
    this.#going?.abort();
    if (letters === null) this.found = [];
    else this.#timer = setTimeout(() => void this.#ask(letters), this.found.length ? PAUSE_MS : 0);
  }

  async #ask(letters: string): Promise<void> {
    const going = (this.#going = new AbortController());
    const address = `/api/sessions/${this.#session}/names?q=${encodeURIComponent(letters)}`;
    try {
      const response = await this.#app.call(address, { signal: going.signal });
      const body = (await response.json()) as { names?: readonly FoundName[]; whole?: boolean };
      if (letters !== this.#asked) return;
      this.found = response.ok ? (body.names ?? []) : [];
      this.partial = body.whole === false;
    } catch {
      if (letters === this.#asked) this.found = []; // Offline: a path can still be written by hand.
    }
  }
}
