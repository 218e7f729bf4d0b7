/**
 * Whether "yes" may be pressed: only after what is asked for has stood still for a moment, and
 * after its end was in view. Made anew for each request, so no click meant for one meets another.
 */
import type { Lift } from "./lift.svelte.ts";

/** Longer than a hand needs to stop a click that is on its way (T-17). */
export const STILL_MS = 500;

export class Arming {
  endShown = $state(false);
  #still = $state(false);
  readonly #lift: Lift;

  constructor(lift: Lift) {
    this.#lift = lift;
  }

  /** Whether it has stood there for a moment; enough where there is no end to be read first. */
  get still(): boolean {
    return this.#still;
  }

  get armed(): boolean {
    return this.#still && this.endShown;
  }

  /**
   * Start to count; gives what stops it. Time in which nobody can look does not count. In an effect
   * it begins anew each time the sheet comes up: the hand that lifted it may still be there.
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
      // From when it is drawn: a busy page may be late, and a hand aims at what it sees.
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
