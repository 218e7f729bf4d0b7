/** One clock for everything that counts seconds; it stands still while nobody looks. */

class Clock {
  /** Seconds since 1970 by the server's clock. */
  now = $state(Date.now() / 1000);
  skew = 0;
  frozen = false;

  constructor() {
    setInterval(() => this.#tick(), 1000);
    document.addEventListener("visibilitychange", () => this.#tick());
  }

  #tick(): void {
    if (!document.hidden && !this.frozen) this.now = Date.now() / 1000 + this.skew;
  }

  /** Stand still at a moment, for pictures that are to be the same every time. */
  freeze(at: number): void {
    this.frozen = true;
    this.now = at;
  }
}

export const clock = new Clock();
