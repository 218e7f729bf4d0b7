/**
 * Whether what needs an answer is up. On a narrow page it is a sheet over the conversation, which
 * can be put down to read and lifted again; on a wide one it stands beside and is always up.
 */
import { getContext, setContext } from "svelte";
import { MediaQuery } from "svelte/reactivity";
import { holdsNothing, isWriting, windows } from "./keys.ts";
import type { Gone } from "./withdrawn.ts";

const KEY = Symbol("lift");

export class Lift {
  readonly #narrow = new MediaQuery("max-width: 700px");
  #down = $state(false);
  #handed = false;
  /** How high the sheet is, in pixels, so that the page can make room for it. */
  height = $state(0);
  /** What closed itself of late, to be told where it is seen. */
  notes = $state.raw<readonly Gone[]>([]);

  /** Whether it lies over the page. */
  get over(): boolean {
    return this.#narrow.current;
  }

  get up(): boolean {
    return !this.over || !this.#down;
  }

  lift(): void {
    this.#down = false;
  }

  /** Read first, answer later. */
  putDown(): void {
    this.#down = this.#handed = true;
  }

  /** Something came to be answered: nobody is torn away from a window or from their words. */
  arrive(): void {
    const at = document.activeElement;
    this.#down = windows().length > 0 || (isWriting(at) && !holdsNothing(at));
    this.#handed = false;
  }

  /** Whether the focus goes to what lifts it again: once, for who has put it down. */
  takeFocus(): boolean {
    const handed = this.#handed;
    this.#handed = false;
    return handed;
  }
}

export function provideLift(lift: Lift): Lift {
  return setContext(KEY, lift);
}

export function useLift(): Lift {
  return getContext<Lift>(KEY);
}
