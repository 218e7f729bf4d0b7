/** One clock for everything that counts seconds; it stops while the page is hidden. */

class Clock {
  /** Unix time in seconds by the server's clock. */
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

  /** Stop at a time, for screenshots that must be reproducible. */
  freeze(at: number): void {
    this.frozen = true;
    this.now = at;
  }
}

export const clock = new Clock();
