/** The keyboard actions of the open page: the page registers them, the shell runs them. */
import type { Action } from "../keys.ts";

export type Actions = Partial<Readonly<Record<Action, () => void>>>;

class PageActions {
  #actions: Actions = {};

  /** Register actions; the returned function removes them. */
  offer(actions: Actions): () => void {
    this.#actions = actions;
    return () => {
      if (this.#actions === actions) this.#actions = {};
    };
  }

  /** Run an action; false if the page has none by that name. */
  act(action: Action): boolean {
    const run = this.#actions[action];
    run?.();
    return run !== undefined;
  }
}

export const commandsOf = new PageActions();
