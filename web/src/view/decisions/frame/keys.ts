/**
 * The keys of decisions. One key means the same in every decision: A approves this once, D denies
 * (with an undo), E modifies, R denies with a reason, S denies and stops the turn, Z undoes an answer.
 * Digits choose one of the options that are shown. Escape never answers.
 */
import { preferences } from "../../preferences.svelte.ts";

const FROM_ANYWHERE: Readonly<Record<string, string>> = { KeyA: "a", KeyD: "d", KeyZ: "z" };

/** The decision key of a key press, also while typing if it has Alt; null if it is none. */
export function decisionKey(event: KeyboardEvent): string | null {
  return altKey(event) ?? plainKey(event);
}

/** Alt+A, Alt+D and Alt+Z, which work from anywhere. By position: on a Mac, Alt changes the letter. */
export function altKey(event: KeyboardEvent): string | null {
  if (!event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.repeat) return null;
  if (event.defaultPrevented || event.isComposing) return null;
  return FROM_ANYWHERE[event.code] ?? null;
}

/** The key of a press that is not part of typing; null if it is, or if single keys are turned off. */
export function plainKey(event: KeyboardEvent): string | null {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return null;
  if (event.defaultPrevented || isWriting(event.target)) return null;
  if (event.key.length > 1) return event.key;
  return preferences.singleKeys ? event.key.toLowerCase() : null;
}

/** The hint of a decision key: with Alt if single keys are turned off, or nothing. */
export function keyHint(key: string): string {
  if (preferences.singleKeys) return key;
  return `Key${key}` in FROM_ANYWHERE ? `Alt+${key}` : "";
}

/** Whether this is an empty field, which has nothing that Escape could clear or that could be lost. */
export function holdsNothing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.dataset["passesEscape"] !== undefined;
}

/** Whether typed characters go into this. */
export function isWriting(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement) return true;
  if (target.getAttribute("role") === "combobox") return true; // Characters choose in its list.
  if (!(target instanceof HTMLInputElement)) return false;
  return !["checkbox", "radio", "button", "submit"].includes(target.type);
}

/** The windows and menus above the page; a decision is none of them. */
export function windows(): readonly Element[] {
  return [...document.querySelectorAll("dialog:modal:not([data-ask]), [popover]:popover-open")];
}

/** Whether this cannot be seen, or is covered by something that gets the keys instead. */
export function isCovered(node: HTMLElement): boolean {
  return !node.checkVisibility() || windows().some((over) => !over.contains(node));
}
