/** Which cards somebody opened or closed; kept beside the rows, which come and go as one scrolls. */
import { SvelteMap } from "svelte/reactivity";

class Opened {
  readonly #chosen = new SvelteMap<string, boolean>();

  /** Whether it was opened or closed; undefined if nobody touched it. */
  is(key: string): boolean | undefined {
    return this.#chosen.get(key);
  }

  set(key: string, open: boolean): void {
    this.#chosen.set(key, open);
  }
}

export const opened = new Opened();
