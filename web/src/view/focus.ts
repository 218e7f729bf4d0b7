/**
 * Where the focus goes when the element that had it disappears: to an open decision, then to a
 * denial that can be undone, then to the composer (on a touch screen that would open the keyboard,
 * so there it is the conversation), then to the page.
 */
import { tick } from "svelte";

const DECISION = "[data-ask][open]";
const COMPOSER = "main [data-composer]:not([disabled])";

/** Move the focus to a fitting element if none has it. */
export function refocus(): void {
  if (document.activeElement !== null && document.activeElement !== document.body) return;
  if (document.querySelector("dialog:modal:not([data-ask])") !== null) return; // A dialog keeps it.
  const touch = matchMedia("(pointer: coarse)").matches;
  const selectors = [DECISION, "[data-held]", ...(touch ? [] : [COMPOSER]), 'main [role="log"]', "main"];
  const target = selectors.map((selector) => document.querySelector<HTMLElement>(selector)).find((element) => element !== null);
  target?.focus({ preventScroll: true });
}

/** Move the focus to the decision; false if there is none. */
export function focusDecision(): boolean {
  const decision = document.querySelector<HTMLElement>(DECISION) ?? document.querySelector<HTMLElement>("[data-held]");
  decision?.focus({ preventScroll: true });
  return decision !== null;
}

/** Move the focus to the composer; false if it cannot be used. */
export function focusComposer(): boolean {
  const composer = document.querySelector<HTMLElement>(COMPOSER);
  composer?.focus({ preventScroll: true });
  return composer !== null;
}

/** For `{@attach}`: moves the focus on when the node that may have it is removed. */
export function leavesFocus(): () => void {
  return () => void tick().then(refocus);
}

/**
 * Call this before the content of `area` changes, such as in `$effect.pre`. If the control with the
 * focus disappears, the control of the same kind (`data-control`) that is then at its place gets the
 * focus, or `area` itself, which must be focusable.
 */
export function keepFocus(area: HTMLElement | undefined): void {
  const active = document.activeElement;
  if (area === undefined || !(active instanceof HTMLElement) || !area.contains(active)) return;
  const kind = active.dataset["control"] ?? "";
  const alike = (): readonly HTMLElement[] => [...area.querySelectorAll<HTMLElement>(`[data-control="${kind}"]`)];
  const place = alike().indexOf(active);
  void gone(active).then((removed) => {
    if (!removed || !area.isConnected || document.querySelector("dialog:modal") !== null) return;
    if (document.activeElement !== null && document.activeElement !== document.body) return;
    const left = alike();
    (left[Math.min(place, left.length - 1)] ?? area).focus({ preventScroll: left.length === 0 });
  });
}

const MOST_FRAMES = 10;

/** Whether a node is removed within some frames: a virtual list draws a change later than Svelte does. */
async function gone(node: HTMLElement): Promise<boolean> {
  await tick();
  for (let frame = 0; frame < MOST_FRAMES && node.isConnected; frame += 1) await new Promise(requestAnimationFrame);
  return !node.isConnected;
}
