/**
 * Chords: keys pressed together, as text such as `Ctrl+Shift+F`, `?` or `Escape`. `Ctrl` is also the
 * command key of a Mac. Shift is named only if the character of the key does not show it. Pure.
 */

/** The parts of a key press that matter. */
export interface Pressed {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

const MODIFIERS = new Set(["Control", "Shift", "Alt", "Meta", "AltGraph", "CapsLock", "Dead", "Process", "Unidentified"]);

/** Chords that browsers reserve, or that users need for text. */
const BROWSERS = new Set([
  "Ctrl+C", "Ctrl+V", "Ctrl+X", "Ctrl+A", "Ctrl+Z", "Ctrl+T", "Ctrl+N", "Ctrl+W", "Ctrl+R", "Ctrl+L",
  "Ctrl+Q", "Ctrl+Shift+T", "Ctrl+Shift+N", "Ctrl+Shift+W", "F5", "F11", "F12",
]);

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

/** The keys of a chord as they are printed on a keyboard; on a Mac, Ctrl is ⌘ and Alt is ⌥. */
export function keysOf(chord: string, mac = false): readonly string[] {
  if (chord === "") return [];
  const parts = chord === "+" ? ["+"] : chord.endsWith("++") ? [...chord.slice(0, -2).split("+"), "+"] : chord.split("+");
  const short: Readonly<Record<string, string>> = { Escape: "Esc", ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", ...(mac ? { Ctrl: "⌘", Alt: "⌥", Shift: "⇧" } : {}) };
  return parts.map((part) => short[part] ?? part);
}

/** Whether a chord cannot be typed as text, so that it also works in a text field. */
export function worksWhileTyping(chord: string): boolean {
  return /^(Ctrl|Alt)\+/.test(chord) || /^(Escape|F\d{1,2})$/.test(chord);
}

/** Why a chord cannot be used, as a sentence; null if it can. */
export function problemOf(chord: string): string | null {
  if (BROWSERS.has(chord)) return "Reserved by the browser or for typing.";
  if (/(^|\+)(Tab|Enter|Space)$/.test(chord) && !chord.startsWith("Ctrl+") && !chord.startsWith("Alt+")) {
    return "Reserved for buttons and fields.";
  }
  return null;
}

export interface Bound {
  readonly action: string;
  readonly keys: string;
}

/** The other action that already has a chord. */
export function takenBy<T extends Bound>(bindings: readonly T[], chord: string, action: string): T | null {
  return bindings.find((bound) => bound.keys === chord && bound.action !== action) ?? null;
}

/** The changed keys after an action got a chord; another action that had the chord loses it. */
export function rebound(
  originals: readonly Bound[],
  changed: Readonly<Record<string, string>>,
  action: string,
  chord: string,
): Readonly<Record<string, string>> {
  const now = originals.map((bound) => ({ action: bound.action, keys: changed[bound.action] ?? bound.keys }));
  const loser = takenBy(now, chord, action);
  const after = { ...changed, [action]: chord, ...(loser && chord !== "" ? { [loser.action]: "" } : {}) };
  const original = new Map(originals.map((bound) => [bound.action, bound.keys]));
  return Object.fromEntries(Object.entries(after).filter(([name, keys]) => original.get(name) !== keys));
}
