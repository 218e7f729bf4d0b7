/**
 * The shortcuts of the app: what each does, and which one was pressed. Changed shortcuts are in the
 * preferences; the chord of an action is always read from here.
 */
import { chordOf, rebound, worksWhileTyping } from "../core/chords.ts";
import { keyNames } from "./key_names.ts";
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
  | "quote"
  | "sessionBefore"
  | "sessionAfter"
  | "panel"
  | "theme"
  | "keys";

/** The default shortcuts. */
export const BINDINGS: readonly Binding[] = [
  { action: "palette", keys: "Ctrl+K", about: "Find sessions and actions", group: "Go" },
  { action: "search", keys: "/", about: "Search all conversations", group: "Go" },
  { action: "new", keys: "N", about: "New session", group: "Go" },
  { action: "inbox", keys: "I", about: "Inbox", group: "Go" },
  { action: "sessionBefore", keys: "K", about: "Previous session", group: "Go" },
  { action: "sessionAfter", keys: "J", about: "Next session", group: "Go" },
  { action: "usage", keys: "U", about: "Usage", group: "Go" },
  { action: "settings", keys: ",", about: "Settings", group: "Go" },
  { action: "help", keys: "H", about: "Help", group: "Go" },
  { action: "write", keys: "M", about: "Write a message", group: "Session" },
  { action: "commands", keys: "Ctrl+/", about: "Slash commands", group: "Session" },
  { action: "stop", keys: "Escape", about: "Clear the field; if it is empty, go to the decision or stop the turn", group: "Session" },
  { action: "end", keys: "G", about: "Jump to latest", group: "Session" },
  { action: "promptBefore", keys: "[", about: "Previous prompt", group: "Session" },
  { action: "promptAfter", keys: "]", about: "Next prompt", group: "Session" },
  { action: "prompts", keys: "O", about: "All prompts of the conversation", group: "Session" },
  { action: "find", keys: "Ctrl+F", about: "Find in the conversation", group: "Session" },
  { action: "quote", keys: "Q", about: "Quote the selected text in the message", group: "Session" },
  { action: "panel", keys: "P", about: "Session panel", group: "Look" },
  { action: "theme", keys: "T", about: "Toggle theme", group: "Look" },
  { action: "keys", keys: "?", about: "Keyboard shortcuts", group: "Look" },
];

/** Second shortcuts, which work unless they are assigned to another action. */
const ALSO: Readonly<Record<string, Action>> = { "Ctrl+Shift+F": "search" };

export interface FixedKeys {
  readonly keys: string;
  readonly about: string;
  readonly group: "Message" | "Conversation" | "Decision" | "Terminal";
}

/** Shortcuts of one part of the page, which cannot be changed. */
export const PLACES: readonly FixedKeys[] = [
  { keys: "Enter", about: "Send the message", group: "Message" },
  { keys: "Shift+Enter", about: "New line", group: "Message" },
  { keys: "Ctrl+Enter", about: "Interrupt the turn and send now (while it runs)", group: "Message" },
  { keys: "Shift+Tab", about: "Next permission mode", group: "Message" },
  { keys: "Escape Escape", about: "Rewind to before a message (empty field, nothing runs)", group: "Message" },
  { keys: "ArrowUp", about: "Recall last message (empty field)", group: "Message" },
  { keys: "/", about: "Slash commands, at the start of a message", group: "Message" },
  { keys: "@", about: "Files, in a message", group: "Message" },
  { keys: "Escape", about: "Go to the decision (empty field)", group: "Message" },
  { keys: "J", about: "Next message", group: "Conversation" },
  { keys: "K", about: "Previous message", group: "Conversation" },
  { keys: "ArrowDown", about: "Next message", group: "Conversation" },
  { keys: "ArrowUp", about: "Previous message", group: "Conversation" },
  { keys: "Ctrl+Shift+F", about: "Search all conversations", group: "Conversation" },
  { keys: "Alt+A", about: "Allow once, or approve (from anywhere)", group: "Decision" },
  { keys: "Alt+D", about: "Deny, with 5 seconds to undo (from anywhere)", group: "Decision" },
  { keys: "Alt+Z", about: "Undo an answer (from anywhere)", group: "Decision" },
  { keys: "A", about: "Allow once, or approve", group: "Decision" },
  { keys: "2", about: "Allow for this session", group: "Decision" },
  { keys: "3", about: "Accept all edits (asks to confirm)", group: "Decision" },
  { keys: "4", about: "Always allow…", group: "Decision" },
  { keys: "5", about: "Always deny…", group: "Decision" },
  { keys: "1", about: "Choose an option by its number (1 to 9)", group: "Decision" },
  { keys: "D", about: "Deny, with 5 seconds to undo; again to deny now", group: "Decision" },
  { keys: "R", about: "Deny with a reason, or request changes", group: "Decision" },
  { keys: "S", about: "Deny and stop the turn", group: "Decision" },
  { keys: "E", about: "Modify before it runs", group: "Decision" },
  { keys: "Z", about: "Undo an answer", group: "Decision" },
  { keys: "J", about: "Next request", group: "Decision" },
  { keys: "K", about: "Previous request", group: "Decision" },
  { keys: "Escape", about: "Back; then to the message field. Never answers", group: "Decision" },
  { keys: "Shift+F6", about: "Leave the terminal; every other key goes to the shell", group: "Terminal" },
];

/** The current shortcuts. */
export function bindings(): readonly Binding[] {
  const changed = preferences.keys;
  return BINDINGS.map((binding) => ({ ...binding, keys: changed[binding.action] ?? binding.keys }));
}

/** The chord of an action as text: `Ctrl K`, on a Mac `⌘ K`; empty if it has none that works. */
export function hintOf(action: Action): string {
  const chord = bindings().find((binding) => binding.action === action)?.keys ?? "";
  return preferences.singleKeys || !isSingle(chord) ? keyNames(chord).join(" ") : "";
}

/** Whether a chord is a single character, which can be turned off (WCAG 2.1.4). */
function isSingle(chord: string): boolean {
  return [...chord].length === 1;
}

/** Assign a chord to an action, or none; another action that had the chord loses it. */
export function bind(action: Action, chord: string): void {
  preferences.change({ keys: rebound(BINDINGS, preferences.keys, action, chord) });
}

/** Restore the default chord of an action; another action that has the chord loses it. */
export function unbind(action: Action): void {
  bind(action, BINDINGS.find((binding) => binding.action === action)?.keys ?? "");
}

/** The action of a key press; null if there is none, or if the key is part of typing. */
export function actionOf(event: KeyboardEvent): Action | null {
  if (event.isComposing || event.defaultPrevented) return null;
  const chord = chordOf(event);
  if (chord === null || (isTyping(event.target) && !worksWhileTyping(chord))) return null;
  if (isSingle(chord) && !preferences.singleKeys) return null;
  return bindings().find((binding) => binding.keys === chord)?.action ?? ALSO[chord] ?? null;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.tagName === "TEXTAREA" || target.getAttribute("role") === "combobox") return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button", "submit"].includes(target.type);
}
