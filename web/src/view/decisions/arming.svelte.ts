/**
 * Whether "yes" may be pressed: only after what is asked for has stood still for a moment, and
 * after its end was in view. Made anew for each request, so no click meant for one meets another.
 */

const STILL_MS = 500;
/** Longer than a hand needs to stop a click that is on its way (T-17). */

export class Arming {
  endShown = $state(false);
  #still = $state(false);

  /** Whether it has stood there for a moment; enough where there is no end to be read first. */
  get still(): boolean {
    return this.#still;
  }

  get armed(): boolean {
    return this.#still && this.endShown;
  }

  /** Start to count; gives what stops it. Time in which nobody can look does not count. */
  start(): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const count = (): void => {
      clearTimeout(timer);
      if (!document.hidden) timer = setTimeout(() => (this.#still = true), STILL_MS);
    };
    count();
    document.addEventListener("visibilitychange", count);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", count);
    };
  }
}
