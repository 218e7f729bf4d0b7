/**
 * The words of a prompt that is being written: kept at every letter, taken over from another device
 * while nobody types here, and those that were sent before at hand.
 */
import type { App } from "../app.svelte.ts";

export class Draft {
  text = $state("");
  /** Which of the prompts sent before stands there; -1 if none does. */
  #past = -1;
  #theirs: string;
  readonly #app: App;
  readonly #session: string;

  /** `theirs` is what was typed on another device. */
  constructor(app: App, session: string, theirs: string) {
    this.#app = app;
    this.#session = session;
    this.#theirs = theirs;
    // What was sent may still be told as a draft.
    this.text = app.drafts.read(session) || (theirs === this.#lastSent() ? "" : theirs);
  }

  /** Whether a prompt of before stands there. */
  get recalled(): boolean {
    return this.#past >= 0;
  }

  /** Put other words there. */
  write(words: string): void {
    this.text = words;
    this.#app.drafts.write(this.#session, words);
  }

  /** The words were changed by hand. */
  typed(): void {
    this.#past = -1;
    this.#app.drafts.write(this.#session, this.text);
  }

  /** The words go, sent or not, and can be had back. */
  leave(): void {
    this.#app.drafts.sent(this.#session, this.text);
    this.text = "";
    this.#past = -1;
  }

  /** The prompt sent before the one that stands there, or after it; null if there is none. */
  recall(step: 1 | -1): string | null {
    const history = this.#app.drafts.history();
    const to = this.#past + step;
    if (to >= history.length) return null;
    this.#past = to;
    return to < 0 ? "" : (history[to] ?? "");
  }

  /** What another device types is taken over if nobody types here, and goes when it is sent there. */
  heard(theirs: string, idle: boolean): void {
    const before = this.#theirs;
    this.#theirs = theirs;
    if (before === theirs || !idle || theirs === this.#lastSent()) return;
    if (this.text === "" || this.text === before) this.text = theirs;
  }

  #lastSent(): string {
    return this.#app.drafts.history()[0] ?? "";
  }
}
