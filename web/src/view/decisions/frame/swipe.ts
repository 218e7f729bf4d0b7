/** A swipe down on a handle: its distance, and at the end whether it counts as a swipe. */

const BEGIN_PX = 6;
const FAR_PX = 80;
const FLICK_PX = 24;
const FLICK_PX_PER_MS = 0.5;

/** Whether a movement of this many pixels in this many milliseconds counts as a swipe. */
export function isMeant(way: number, ms: number): boolean {
  return way >= FAR_PX || (way >= FLICK_PX && way / Math.max(1, ms) >= FLICK_PX_PER_MS);
}

/** For `{@attach}`: reports the distance during the swipe, and null when the finger is lifted. */
export function drawsDown(moved: (way: number | null) => void, meant: () => void): (handle: HTMLElement) => () => void {
  return (handle) => {
    let start: PointerEvent | null = null;
    const way = (event: PointerEvent): number => Math.max(0, event.clientY - (start?.clientY ?? event.clientY));
    const listeners = {
      pointerdown: (event: PointerEvent) => {
        if (event.isPrimary && event.button === 0) start = event;
      },
      pointermove: (event: PointerEvent) => {
        if (start === null || way(event) < BEGIN_PX) return;
        handle.setPointerCapture(event.pointerId); // Not earlier: a button in the handle must receive its click.
        moved(way(event));
      },
      pointerup: (event: PointerEvent) => {
        const done = start !== null && isMeant(way(event), event.timeStamp - start.timeStamp);
        start = null;
        moved(null);
        if (done) meant();
      },
      pointercancel: () => {
        start = null;
        moved(null);
      },
    };
    const all = Object.entries(listeners) as [keyof typeof listeners, (event: PointerEvent) => void][];
    for (const [name, listener] of all) handle.addEventListener(name, listener);
    return () => {
      for (const [name, listener] of all) handle.removeEventListener(name, listener);
    };
  };
}
