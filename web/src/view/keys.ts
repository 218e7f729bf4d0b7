/** The keys of the app: what each does, and which one was pressed. Shown by the keys dialog. */

export interface Binding {
  readonly action: Action;
  readonly keys: string;
  readonly about: string;
  /** Whether it also works while somebody types. */
  readonly typing?: boolean;
}

export type Action =
  | "palette"
  | "commands"
  | "new"
  | "inbox"
  | "write"
  | "stop"
  | "end"
  | "promptBefore"
  | "promptAfter"
  | "sessionBefore"
  | "sessionAfter"
  | "panel"
  | "theme"
  | "keys";

export const BINDINGS: readonly Binding[] = [
  { action: "palette", keys: "Ctrl+K", about: "Find sessions and actions", typing: true },
  { action: "commands", keys: "Ctrl+/", about: "Slash commands", typing: true },
  { action: "new", keys: "N", about: "New session" },
  { action: "inbox", keys: "I", about: "Inbox" },
  { action: "write", keys: "M", about: "Write a message" },
  { action: "stop", keys: "Escape", about: "Clear the field; if it is empty, stop the turn", typing: true },
  { action: "end", keys: "G", about: "To the end of the conversation" },
  { action: "promptBefore", keys: "[", about: "Prompt before" },
  { action: "promptAfter", keys: "]", about: "Prompt after" },
  { action: "sessionBefore", keys: "K", about: "Session above" },
  { action: "sessionAfter", keys: "J", about: "Session below" },
  { action: "panel", keys: "P", about: "Details of the session" },
  { action: "theme", keys: "T", about: "Light, dark, or as the system" },
  { action: "keys", keys: "?", about: "This list" },
];

/** Keys that belong to one place; here only to be shown. */
export const PLACES: readonly { readonly keys: string; readonly about: string }[] = [
  { keys: "Enter", about: "Send the message" },
  { keys: "Shift+Enter", about: "New line" },
  { keys: "Up", about: "Message sent before, in an empty field" },
  { keys: "/", about: "Slash commands, at the start of a message" },
];

/** What a key press means; null if nothing, or if somebody is typing. */
export function actionOf(event: KeyboardEvent): Action | null {
  if (event.isComposing || event.defaultPrevented) return null;
  const typing = isTyping(event.target);
  const found = BINDINGS.find((one) => fits(one.keys, event));
  return found && (!typing || found.typing) ? found.action : null;
}

function fits(keys: string, event: KeyboardEvent): boolean {
  const parts = keys.split("+");
  const key = parts.at(-1) ?? "";
  const control = parts.includes("Ctrl");
  if (control !== (event.ctrlKey || event.metaKey) || event.altKey) return false;
  return event.key.toLowerCase() === key.toLowerCase();
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}
