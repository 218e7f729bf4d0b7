/**
 * Whether the conversation follows its end: it does until the user scrolls up, and again after
 * the user returns to the end.
 *
 * Not every scroll event comes from the user. When rows are added, the list corrects its position by
 * the heights that it had estimated, and the browser reports this like any other scrolling. So for a
 * moment after such a change, a scroll event counts only with a wheel, touch, pointer or key event;
 * otherwise the list scrolls to the end again. At rest every scroll event counts, because a scroll
 * bar or a screen reader causes no other event.
 */

const NEAR_END = 48;
/** Beyond any end; reading the real end would cause a layout. */
const FAR = 1e9;
const WISHES = ["wheel", "touchmove", "pointerdown", "keydown"] as const;
/** Milliseconds for which input still counts: a wheel scrolls on after the finger has left it. */
const WISH_MS = 600;
/** Milliseconds for which the list may still correct its position after a change. */
const STIR_MS = 200;
/** Pixels that do not count as scrolling: positions are rounded. */
const STILL = 2;

export class Following {
  /** Whether the conversation follows its end. */
  on = $state(true);
  /** Rows that were added while it did not follow. */
  unseen = $state(0);
  #scroller: HTMLElement | null = null;
  #wishedAt = 0;
  #stirredAt = 0;
  #lastTop = 0;

  /** Watch the scroller and its content; returns a function that stops it. */
  watch(scroller: HTMLElement, content: HTMLElement): () => void {
    this.#scroller = scroller;
    // Content that grows after it was drawn (code, images, an expanded card) must not hide the end.
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

  /** The layout changed without the user. */
  stirred(): void {
    this.#stirredAt = performance.now();
  }

  /** Rows were added at the end. */
  came(rows: number): void {
    if (!this.on) this.unseen += rows;
  }

  /** The conversation scrolled, for any reason. */
  scrolled({ scrollTop, scrollHeight, clientHeight }: HTMLElement): void {
    if (scrollHeight - scrollTop - clientHeight < NEAR_END) this.on = true;
    else if (scrollTop < this.#lastTop - STILL && this.#isWished()) this.on = false;
    else if (this.on) requestAnimationFrame(() => this.on && this.seek());
    this.#lastTop = scrollTop;
    if (this.on) this.unseen = 0;
  }

  /** Stay at the target of a jump. */
  leave(): void {
    this.on = false;
  }

  /** Jump to the end, and follow it. */
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
