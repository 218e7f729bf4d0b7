/**
 * A button that needs two clicks. The first click arms it; it disarms itself after a few seconds,
 * so that a click much later is a first click again.
 */

const ARMED_MS = 5_000;

export class TwoStep {
  armed = $state(false);
  #timer: ReturnType<typeof setTimeout> | undefined;

  arm(): void {
    this.armed = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.disarm(), ARMED_MS);
  }

  disarm(): void {
    clearTimeout(this.#timer);
    this.armed = false;
  }
}
