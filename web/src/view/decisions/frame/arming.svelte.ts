/**
 * Whether the request can be approved: only after it has been shown unchanged for a moment and its
 * end was in view. Each request has its own instance, so that a click meant for one cannot approve another.
 */
import type { Lift } from "./sheet_state.svelte.ts";

/** Longer than a user needs to stop a click that has begun (T-17). */
export const STILL_MS = 500;

export class Arming {
  endShown = $state(false);
  #still = $state(false);
  readonly #lift: Lift;

  constructor(lift: Lift) {
    this.#lift = lift;
  }

  /** Whether the request has been shown for a moment; this is enough if it has no end to read first. */
  get still(): boolean {
    return this.#still;
  }

  get armed(): boolean {
    return this.#still && this.endShown;
  }

  /**
   * Start the timer; returns a function that stops it. Time while the page is hidden does not count.
   * In an effect it restarts each time the sheet opens: the finger that opened it may still be there.
   */
  start(): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let frame = 0;
    this.#still = false;
    if (!this.#lift.up) return () => {};
    const stop = (): void => {
      clearTimeout(timer);
      cancelAnimationFrame(frame);
    };
    const count = (): void => {
      stop();
      if (document.hidden) return;
      // From the frame in which it is drawn: a busy page may draw it late.
      frame = requestAnimationFrame(() => (timer = setTimeout(() => (this.#still = true), STILL_MS)));
    };
    count();
    document.addEventListener("visibilitychange", count);
    return () => {
      stop();
      document.removeEventListener("visibilitychange", count);
    };
  }
}
