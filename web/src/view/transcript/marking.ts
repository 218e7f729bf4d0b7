/** Marks the matches of a search in the drawn part of the conversation, as it changes. */
import { mark, unmark } from "./marks.ts";
import type { Places } from "./places.svelte.ts";

export class Marking {
  readonly #scroller: () => HTMLElement | undefined;
  readonly #places: Places;
  #words = "";
  /** The current match. */
  #item: string | null = null;
  #frame = 0;

  constructor(scroller: () => HTMLElement | undefined, places: Places) {
    this.#scroller = scroller;
    this.#places = places;
  }

  /** Mark this text, and go to the item if it is another one. */
  take(words: string, item: string | null): void {
    const moved = item !== null && item !== this.#item;
    this.#words = words;
    this.#item = item;
    this.again();
    if (moved) this.#places.show(item, "seen"); // The user keeps typing, or goes to the next match.
  }

  /** Other rows were drawn: mark again, at most once per frame. */
  again(): void {
    if (this.#frame) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      const scroller = this.#scroller();
      if (scroller) mark(scroller, this.#words, this.#here());
    });
  }

  /** Remove the marks; returns the row of the current match, to read on there. */
  end(): HTMLElement | null {
    cancelAnimationFrame(this.#frame);
    const here = this.#here();
    this.#frame = 0;
    this.#words = "";
    this.#item = null;
    unmark();
    return here;
  }

  #here(): HTMLElement | null {
    return this.#item === null ? null : this.#places.drawn(this.#places.rowOf(this.#item));
  }
}
