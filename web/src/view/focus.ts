/**
 * Where the focus goes when what had it is gone: to what waits for an answer, else to the
 * conversation, else to the page. Nobody who uses the keyboard shall begin at the top again.
 */
import { tick } from "svelte";

/** Give the focus a place if it has none. */
export function refocus(): void {
  if (document.activeElement !== null && document.activeElement !== document.body) return;
  if (document.querySelector("dialog:modal:not([data-ask])") !== null) return; // A window keeps it.
  const places = ["[data-ask][open]", 'main [role="log"]', "main"];
  const found = places.map((one) => document.querySelector<HTMLElement>(one)).find((one) => one !== null);
  found?.focus({ preventScroll: true });
}

/** For `{@attach}`: when the node goes, the focus that it may have had is not lost. */
export function leavesFocus(): () => void {
  return () => void tick().then(refocus);
}
