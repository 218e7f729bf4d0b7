/**
 * Asks the server for names that fit, while the user types. Only the last question counts. Until
 * its answer arrives, the names of the last answer that fit what is typed now are shown, so that
 * the list neither flickers nor offers what the characters exclude.
 */
import { ranked } from "../../core/matching.ts";
import type { App } from "../app.svelte.ts";
import type { FoundName } from "./mentions.ts";

const PAUSE_MS = 70;
/** How long a key press waits for the names. */
const LONGEST_WAIT_MS = 1_000;

interface Answer {
  /** The requested characters; null if there is no answer. */
  readonly characters: string | null;
  readonly names: readonly FoundName[];
}

const NOTHING: Answer = { characters: null, names: [] };

export class NameSearch {
  /** Whether the folder has more files than were searched. */
  partial = $state(false);
  #answer = $state.raw<Answer>(NOTHING);
  #asked: string | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #going: AbortController | null = null;
  #waiting: (() => void)[] = [];
  readonly #app: App;
  readonly #address: () => string;

  /** `address` returns the path of the request, up to the query parameter for the characters. */
  constructor(app: App, address: () => string) {
    this.#app = app;
    this.#address = address;
  }

  /** The names that fit these characters, as far as they are known. */
  fitting(characters: string): readonly FoundName[] {
    const { characters: of, names } = this.#answer;
    return of === characters ? names : ranked(characters, names, (name) => name.path);
  }

  /** Whether the server has yet to say which names fit these characters. */
  awaits(characters: string): boolean {
    return this.#answer.characters !== characters;
  }

  /** Resolves when the last question is answered or dropped, and after a second in any case. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      setTimeout(resolve, LONGEST_WAIT_MS);
    });
  }

  /** Search for characters; null ends the search. */
  look(characters: string | null): void {
    if (characters === this.#asked) return;
    this.#asked = characters;
    clearTimeout(this.#timer);
    this.#going?.abort();
    if (characters === null) this.#take(NOTHING);
    else this.#timer = setTimeout(() => void this.#ask(characters), this.#answer.names.length ? PAUSE_MS : 0);
  }

  async #ask(characters: string): Promise<void> {
    const going = (this.#going = new AbortController());
    const address = `${this.#address()}q=${encodeURIComponent(characters)}`;
    try {
      const response = await this.#app.call(address, { signal: going.signal });
      const body = (await response.json()) as { names?: readonly FoundName[]; whole?: boolean };
      if (characters !== this.#asked) return;
      this.partial = body.whole === false;
      this.#take({ characters, names: response.ok ? (body.names ?? []) : [] });
    } catch {
      if (characters === this.#asked) this.#take({ characters, names: [] }); // Offline: a path can still be written by hand.
    }
  }

  #take(answer: Answer): void {
    this.#answer = answer;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
