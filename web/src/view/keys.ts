/**
 * The keys of the app: what each does, and which one was pressed. What somebody changed is in the
 * preferences; the chord of an action is always asked for here.
 */
import { chordOf, keysOf, rebound, worksWhileTyping } from "../core/chords.ts";
import { preferences } from "./preferences.svelte.ts";

export interface Binding {
  readonly action: Action;
  /** The chord; empty if it has none. */
  readonly keys: string;
  readonly about: string;
  readonly group: "Go" | "Session" | "Look";
}

export type Action =
  | "palette"
  | "search"
  | "commands"
  | "new"
  | "inbox"
  | "usage"
  | "settings"
  | "help"
  | "write"
  | "stop"
  | "end"
  | "promptBefore"
  | "promptAfter"
  | "prompts"
  | "find"
  | "sessionBefore"
  | "sessionAfter"
  | "panel"
  | "theme"
  | "keys";

/** The keys as they come. */
export const BINDINGS: readonly Binding[] = [
  { action: "palette", keys: "Ctrl+K", about: "Find sessions and actions", group: "Go" },
  { action: "search", keys: "/", about: "Search all conversations", group: "Go" },
  { action: "new", keys: "N", about: "New session", group: "Go" },
  { action: "inbox", keys: "I", about: "Inbox", group: "Go" },
  { action: "sessionBefore", keys: "K", about: "Session above", group: "Go" },
  { action: "sessionAfter", keys: "J", about: "Session below", group: "Go" },
  { action: "usage", keys: "U", about: "Usage", group: "Go" },
  { action: "settings", keys: ",", about: "Settings", group: "Go" },
  { action: "help", keys: "H", about: "Help", group: "Go" },
  { action: "write", keys: "M", about: "Write a message", group: "Session" },
  { action: "commands", keys: "Ctrl+/", about: "Slash commands", group: "Session" },
  { action: "stop", keys: "Escape", about: "Clear the field; if it is empty, stop the turn", group: "Session" },
  { action: "end", keys: "G", about: "To the end of the conversation", group: "Session" },
  { action: "promptBefore", keys: "[", about: "Prompt before", group: "Session" },
  { action: "promptAfter", keys: "]", about: "Prompt after", group: "Session" },
  { action: "prompts", keys: "O", about: "All prompts of the conversation", group: "Session" },
  { action: "find", keys: "Ctrl+F", about: "Find in the conversation", group: "Session" },
  { action: "panel", keys: "P", about: "Details of the session", group: "Look" },
  { action: "theme", keys: "T", about: "Light, dark, or as the system", group: "Look" },
  { action: "keys", keys: "?", about: "The list of keys", group: "Look" },
];

const ALSO: Readonly<Record<string, Action>> = { "Ctrl+Shift+F": "search" };
/** Second keys, which work as long as nobody gives them to something else. */

/** Keys that belong to one place and stay as they are. */
export const PLACES: readonly { readonly keys: string; readonly about: string }[] = [
  { keys: "Enter", about: "Send the message" },
  { keys: "Shift+Enter", about: "New line" },
  { keys: "ArrowUp", about: "Message sent before, in an empty field" },
  { keys: "/", about: "Slash commands, at the start of a message" },
  { keys: "@", about: "Files, in a message" },
  { keys: "J", about: "Next message, in the conversation" },
  { keys: "K", about: "Message before, in the conversation" },
  { keys: "A", about: "Allow what is asked" },
  { keys: "E", about: "Edit it, then allow" },
  { keys: "D", about: "Deny, with words" },
  { keys: "Ctrl+Shift+F", about: "Search all conversations" },
];

/** The keys as they are now. */
export function bindings(): readonly Binding[] {
  const changed = preferences.keys;
  return BINDINGS.map((one) => ({ ...one, keys: changed[one.action] ?? one.keys }));
}

/** The chord of an action as one reads it: `Ctrl K`; empty if it has none. */
export function hintOf(action: Action): string {
  return keysOf(bindings().find((one) => one.action === action)?.keys ?? "").join(" ");
}

/** Give an action another chord, or none; whatever had it before has none then. */
export function bind(action: Action, chord: string): void {
  preferences.change({ keys: rebound(BINDINGS, preferences.keys, action, chord) });
}

/** The key an action came with, if it is free; else what has it now loses it. */
export function unbind(action: Action): void {
  bind(action, BINDINGS.find((one) => one.action === action)?.keys ?? "");
}

/** What a key press means; null if nothing, or if somebody is typing. */
export function actionOf(event: KeyboardEvent): Action | null {
  if (event.isComposing || event.defaultPrevented) return null;
  const chord = chordOf(event);
  if (chord === null || (isTyping(event.target) && !worksWhileTyping(chord))) return null;
  return bindings().find((one) => one.keys === chord)?.action ?? ALSO[chord] ?? null;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || ["TEXTAREA", "SELECT"].includes(target.tagName)) return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button", "submit"].includes(target.type);
}
