/**
 * Whether the decision is shown. On a narrow page it is a sheet over the conversation, which can be
 * minimized to read and opened again; on a wide page it is above the composer and always shown.
 */
import { getContext, setContext } from "svelte";
import { MediaQuery } from "svelte/reactivity";
import { holdsNothing, isWriting, windows } from "./keys.ts";
import type { Gone } from "./withdrawn.ts";

const KEY = Symbol("lift");

/** An answer that can still be undone while the next request covers the page. */
export interface Undoable {
  readonly words: string;
  /** When the undo period ends, by the server's clock. */
  readonly until: number;
  readonly undo: () => void;
}

export class Lift {
  readonly #narrow = new MediaQuery("max-width: 700px");
  #down = $state(false);
  #handed = false;
  /** The machine on which the call would run; empty if there is only one. */
  machine = $state("");
  /** How high the sheet is, in pixels, so that the page can make room for it. */
  height = $state(0);
  /** Requests that were withdrawn recently, to be shown where the user looks. */
  notes = $state.raw<readonly Gone[]>([]);
  /** The last answer, as long as it can be undone. */
  undoable = $state.raw<Undoable | null>(null);

  /** Whether it covers a part of the page. */
  get over(): boolean {
    return this.#narrow.current;
  }

  get up(): boolean {
    return !this.over || !this.#down;
  }

  lift(): void {
    this.#down = false;
  }

  /** Minimize it, to read first and answer later. */
  putDown(): void {
    this.#down = this.#handed = true;
  }

  /** A request arrived; it does not interrupt a user who types or has a dialog open. */
  arrive(): void {
    const at = document.activeElement;
    this.#down = windows().length > 0 || (isWriting(at) && !holdsNothing(at));
    this.#handed = false;
  }

  /** Whether the focus goes to the button that opens it again: once, after the user minimized it. */
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
