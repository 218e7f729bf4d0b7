/**
 * Whether the conversation follows its end: it does until a hand scrolls up, and again once it is
 * back there.
 *
 * Not every move upwards is a hand's. While rows come in, the list corrects its place by what it
 * had guessed of their heights, and the browser tells of that as of any other scrolling. So for a
 * moment after something has moved by itself, a move counts only if a wheel, a finger, a pointer
 * or a key was seen; otherwise the end is sought anew. At rest every move counts, for a scroll bar
 * or a screen reader leaves no other trace.
 */

const NEAR_END = 48;
/** Beyond any end; asking where that is costs a layout. */
const FAR = 1e9;
const WISHES = ["wheel", "touchmove", "pointerdown", "keydown"] as const;
/** Milliseconds for which a hand that was seen still moves: a wheel runs on after the finger has left it. */
const WISH_MS = 600;
/** Milliseconds for which the list may still correct its place after something has moved. */
const STIR_MS = 200;
/** Pixels that are no move: places are rounded. */
const STILL = 2;

export class Following {
  /** Whether it follows. */
  on = $state(true);
  /** Rows that came while it did not. */
  unseen = $state(0);
  #scroller: HTMLElement | null = null;
  #wishedAt = 0;
  #stirredAt = 0;
  #lastTop = 0;

  /** Watch what scrolls and what is in it, for as long as both are there; gives what ends that. */
  watch(scroller: HTMLElement, content: HTMLElement): () => void {
    this.#scroller = scroller;
    // What grows after it was drawn (code, pictures, an opened card) must not leave the end behind.
    const observer = new ResizeObserver(() => {
      this.stirred();
      if (this.on) this.seek();
    });
    observer.observe(content);
    observer.observe(scroller);
    const wish = (): void => void (this.#wishedAt = performance.now());
    for (const name of WISHES) scroller.addEventListener(name, wish, { passive: true });
    return () => {
      observer.disconnect();
      for (const name of WISHES) scroller.removeEventListener(name, wish);
    };
  }

  /** Something has moved by itself. */
  stirred(): void {
    this.#stirredAt = performance.now();
  }

  /** Rows have come at the end. */
  came(rows: number): void {
    if (!this.on) this.unseen += rows;
  }

  /** It has scrolled, whoever did that. */
  scrolled({ scrollTop, scrollHeight, clientHeight }: HTMLElement): void {
    if (scrollHeight - scrollTop - clientHeight < NEAR_END) this.on = true;
    else if (scrollTop < this.#lastTop - STILL && this.#isWished()) this.on = false;
    else if (this.on) requestAnimationFrame(() => this.on && this.seek());
    this.#lastTop = scrollTop;
    if (this.on) this.unseen = 0;
  }

  /** Stay where somebody was brought. */
  leave(): void {
    this.on = false;
  }

  /** To the end, and follow it. */
  toEnd(): void {
    this.on = true;
    this.unseen = 0;
    this.seek();
  }

  /** Scroll to where the end is now. */
  seek(): void {
    if (this.#scroller) this.#scroller.scrollTop = FAR;
  }

  #isWished(): boolean {
    const now = performance.now();
    const wished = now - this.#wishedAt < WISH_MS || now - this.#stirredAt > STIR_MS;
    if (wished) this.#wishedAt = now;
    return wished;
  }
}
