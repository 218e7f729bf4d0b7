/** Which keys mean a decision: single letters, and only while nobody writes. Pure but for the DOM. */

/** The letter of a key press that is meant for the page; null if it is part of writing. */
export function plainKey(event: KeyboardEvent): string | null {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return null;
  if (event.defaultPrevented) return null;
  if (isWriting(event.target) && !(event.key === "Escape" && holdsNothing(event.target))) return null;
  return event.key.length === 1 ? event.key.toLowerCase() : event.key;
}

/** Whether this is an empty field: it has nothing that Escape could clear or that could be lost. */
export function holdsNothing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.dataset["passesEscape"] !== undefined;
}

/** Whether letters go into this. */
export function isWriting(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement) return true;
  if (target instanceof HTMLSelectElement) return true;
  if (!(target instanceof HTMLInputElement)) return false;
  return !["checkbox", "radio", "button", "submit"].includes(target.type);
}

/** The windows and menus that lie over the page; what needs an answer is none of them. */
export function windows(): readonly Element[] {
  return [...document.querySelectorAll("dialog:modal:not([data-ask]), [popover]:popover-open")];
}

/** Whether this cannot be seen, or something lies over it to which the keys then belong. */
export function isCovered(node: HTMLElement): boolean {
  return !node.checkVisibility() || windows().some((over) => !over.contains(node));
}
