/** Which cards the user expanded or collapsed; stored apart from the rows, which are removed while the user scrolls. */
import { SvelteMap } from "svelte/reactivity";

class Opened {
  readonly #chosen = new SvelteMap<string, boolean>();

  /** Whether the user expanded it (true) or collapsed it (false); undefined if neither. */
  is(key: string): boolean | undefined {
    return this.#chosen.get(key);
  }

  set(key: string, open: boolean): void {
    this.#chosen.set(key, open);
  }
}

export const opened = new Opened();
