/**
 * Chords: keys pressed together, as text such as `Ctrl+Shift+F`, `?` or `Escape`. Ctrl stands for
 * the command key of a Mac too. Shift is told only where the key itself does not show it. Pure.
 */

/** What of a key press matters. */
export interface Pressed {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

const MODIFIERS = new Set(["Control", "Shift", "Alt", "Meta", "AltGraph", "CapsLock", "Dead", "Process", "Unidentified"]);

const BROWSERS = new Set([
  "Ctrl+C", "Ctrl+V", "Ctrl+X", "Ctrl+A", "Ctrl+Z", "Ctrl+T", "Ctrl+N", "Ctrl+W", "Ctrl+R", "Ctrl+L",
  "Ctrl+Q", "Ctrl+Shift+T", "Ctrl+Shift+N", "Ctrl+Shift+W", "F5", "F11", "F12",
]);
/** What browsers keep for themselves, or people need for text. */

/** The chord of a key press; null for a modifier alone. */
export function chordOf(pressed: Pressed): string | null {
  const { key } = pressed;
  if (key === "" || MODIFIERS.has(key)) return null;
  const named = key.length > 1;
  const letter = !named && key.toLowerCase() !== key.toUpperCase();
  const parts = [
    pressed.ctrlKey || pressed.metaKey ? "Ctrl" : "",
    pressed.altKey ? "Alt" : "",
    pressed.shiftKey && (named || letter) ? "Shift" : "",
    key === " " ? "Space" : letter ? key.toUpperCase() : key,
  ];
  return parts.filter(Boolean).join("+");
}

/** The keys of a chord, one by one, as they stand on a keyboard. */
export function keysOf(chord: string): readonly string[] {
  if (chord === "") return [];
  const parts = chord === "+" ? ["+"] : chord.endsWith("++") ? [...chord.slice(0, -2).split("+"), "+"] : chord.split("+");
  const short: Readonly<Record<string, string>> = { Escape: "Esc", ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→" };
  return parts.map((part) => short[part] ?? part);
}

/** Whether a chord can be told from writing, so that it also works in a text field. */
export function worksWhileTyping(chord: string): boolean {
  return /^(Ctrl|Alt)\+/.test(chord) || /^(Escape|F\d{1,2})$/.test(chord);
}

/** Why a chord cannot be used, in words; null if it can. */
export function problemOf(chord: string): string | null {
  if (BROWSERS.has(chord)) return "The browser, or writing, needs this one.";
  if (/(^|\+)(Tab|Enter|Space)$/.test(chord) && !chord.startsWith("Ctrl+") && !chord.startsWith("Alt+")) {
    return "This key works buttons and fields.";
  }
  return null;
}

export interface Bound {
  readonly action: string;
  readonly keys: string;
}

/** What has a chord already, other than the action itself. */
export function takenBy<T extends Bound>(bindings: readonly T[], chord: string, action: string): T | null {
  return bindings.find((one) => one.keys === chord && one.action !== action) ?? null;
}

/** The changes after an action was given a chord; whoever had it before has none then. */
export function rebound(
  originals: readonly Bound[],
  changed: Readonly<Record<string, string>>,
  action: string,
  chord: string,
): Readonly<Record<string, string>> {
  const now = originals.map((one) => ({ action: one.action, keys: changed[one.action] ?? one.keys }));
  const loser = takenBy(now, chord, action);
  const after = { ...changed, [action]: chord, ...(loser && chord !== "" ? { [loser.action]: "" } : {}) };
  const original = new Map(originals.map((one) => [one.action, one.keys]));
  return Object.fromEntries(Object.entries(after).filter(([name, keys]) => original.get(name) !== keys));
}
