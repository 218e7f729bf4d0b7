/** The words somebody looks for, marked in what is drawn of the conversation as that changes. */
import { mark, unmark } from "./marks.ts";
import type { Places } from "./places.svelte.ts";

export class Marking {
  readonly #scroller: () => HTMLElement | undefined;
  readonly #places: Places;
  #words = "";
  /** The item that one is at. */
  #item: string | null = null;
  #frame = 0;

  constructor(scroller: () => HTMLElement | undefined, places: Places) {
    this.#scroller = scroller;
    this.#places = places;
  }

  /** Mark these words, and go to the item that is new. */
  take(words: string, item: string | null): void {
    const moved = item !== null && item !== this.#item;
    this.#words = words;
    this.#item = item;
    this.again();
    if (moved) this.#places.show(item, "seen"); // One goes on typing, or to the next, meanwhile.
  }

  /** Other rows are drawn: mark once more, at most once for each frame. */
  again(): void {
    if (this.#frame) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      const scroller = this.#scroller();
      if (scroller) mark(scroller, this.#words, this.#here());
    });
  }

  /** No more marks; gives the row that one was at, to read on there. */
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
