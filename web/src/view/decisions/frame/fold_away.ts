/**
 * The motion of a decision that closes: its frame shrinks into what takes its place, the card of the
 * call or the held answer, so that the user sees where it went. It is only drawn: the decision itself
 * is gone at once, so no key or click can reach it.
 */

const DURATION_MS = 260;
const GLOW_MS = 700;

/** The height that the frame shrinks to if nothing takes its place. */
const FLAT_PX = 6;

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Draw the motion from where the decision was; `find` gives what takes its place, if it is shown. */
export function foldAway(from: Box, find: () => Element | null): void {
  if (from.height === 0 || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const frame = drawFrame(from);
  // The conversation moves when the decision closes; two frames later it has its new place.
  requestAnimationFrame(() => requestAnimationFrame(() => shrink(frame, from, find())));
}

function drawFrame(box: Box): HTMLElement {
  const frame = document.createElement("div");
  frame.setAttribute("aria-hidden", "true");
  frame.dataset["folding"] = "";
  Object.assign(frame.style, {
    ...pixels(box),
    position: "fixed",
    zIndex: "9",
    pointerEvents: "none",
    borderRadius: "var(--r3)",
    border: "1.5px solid var(--accent)",
    background: "var(--raise)",
  });
  document.body.append(frame);
  return frame;
}

function shrink(frame: HTMLElement, from: Box, target: Element | null): void {
  const style = getComputedStyle(document.documentElement);
  const to = target?.getBoundingClientRect() ?? { ...from, top: from.top + from.height - FLAT_PX, height: FLAT_PX };
  const moving = frame.animate(
    [
      { ...pixels(from), opacity: 0.9 },
      { opacity: 0.75, offset: 0.6 },
      { ...pixels(to), opacity: 0 },
    ],
    { duration: DURATION_MS, easing: style.getPropertyValue("--ease") || "ease", fill: "forwards" },
  );
  const end = (): void => frame.remove();
  moving.finished.then(end, end);
  target?.animate([{ boxShadow: "0 0 0 3px var(--accent-soft)" }, { boxShadow: "0 0 0 3px transparent" }], { duration: GLOW_MS, easing: "ease-out" });
}

function pixels(box: Box): Record<"left" | "top" | "width" | "height", string> {
  return { left: `${box.left}px`, top: `${box.top}px`, width: `${box.width}px`, height: `${box.height}px` };
}
