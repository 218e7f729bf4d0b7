/** What the page that is open can do with a key; the shell asks, the page offers. */
import type { Action } from "../keys.ts";

export type Deeds = Partial<Readonly<Record<Action, () => void>>>;

class PageDeeds {
  #deeds: Deeds = {};

  /** Offer deeds until the given function is called. */
  offer(deeds: Deeds): () => void {
    this.#deeds = deeds;
    return () => {
      if (this.#deeds === deeds) this.#deeds = {};
    };
  }

  /** Do it if the page can; false if it cannot. */
  act(action: Action): boolean {
    const deed = this.#deeds[action];
    deed?.();
    return deed !== undefined;
  }
}

export const commandsOf = new PageDeeds();
