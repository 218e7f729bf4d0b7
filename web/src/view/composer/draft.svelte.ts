/**
 * The draft of this device: stored at every keystroke, with the sent prompts to recall. Text that is
 * typed on other devices never gets here by itself.
 */
import type { App } from "../app.svelte.ts";

export class Draft {
  text = $state("");
  /** The index of the recalled prompt; -1 if there is none. */
  #past = -1;
  readonly #app: App;
  readonly #session: string;

  constructor(app: App, session: string) {
    this.#app = app;
    this.#session = session;
    this.text = app.drafts.read(session) ?? "";
  }

  /** Whether the text is a recalled prompt. */
  get recalled(): boolean {
    return this.#past >= 0;
  }

  /** Replace the text. */
  write(words: string): void {
    this.text = words;
    this.#app.drafts.write(this.#session, words);
  }

  /** The user changed the text. */
  typed(): void {
    this.#past = -1;
    this.#app.drafts.write(this.#session, this.text);
  }

  /** Clear the text, which can be recalled. */
  leave(): void {
    this.#app.drafts.sent(this.#session, this.text);
    this.text = "";
    this.#past = -1;
  }

  /** Recall the previous or the next sent prompt; null if there is none. */
  recall(step: 1 | -1): string | null {
    const history = this.#app.drafts.history();
    const to = this.#past + step;
    if (to >= history.length) return null;
    this.#past = to;
    return to < 0 ? "" : (history[to] ?? "");
  }
}
