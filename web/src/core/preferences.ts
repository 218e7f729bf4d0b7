/**
 * What somebody prefers on this device: looks, keys, signals, and what a new session begins with.
 * Reading is lenient: a value that means nothing here is the default, so an older page can read
 * what a newer one kept. Pure; `view/preferences` keeps it.
 */

export type Theme = "system" | "light" | "dark";
export type TextSize = "small" | "normal" | "large";
export type DiffLayout = "unified" | "split";

/** What the form for a new session is filled in with; an empty text is the server's own choice. */
export interface NewSessionDefaults {
  readonly cwd: string;
  readonly model: string;
  readonly mode: string;
  readonly effort: string;
}

export interface Preferences {
  readonly theme: Theme;
  readonly textSize: TextSize;
  readonly diffLayout: DiffLayout;
  /** Whether Enter sends and Shift+Enter breaks the line; else Ctrl+Enter sends. */
  readonly enterSends: boolean;
  /** Whether the system may show a notification when something waits. */
  readonly notify: boolean;
  /** Whether a sound is played when something waits. */
  readonly sound: boolean;
  /** Keys by the name of their action, only where they differ from those it came with. */
  readonly keys: Readonly<Record<string, string>>;
  readonly newSession: NewSessionDefaults;
}

export const DEFAULTS: Preferences = {
  theme: "system",
  textSize: "normal",
  diffLayout: "unified",
  enterSends: true,
  notify: false,
  sound: false,
  keys: {},
  newSession: { cwd: "", model: "", mode: "", effort: "" },
};

/** The preferences that a kept text holds; what it lacks or has wrong is the default. */
export function readPreferences(text: string | null): Preferences {
  const given = fields(parsed(text));
  const fresh = fields(given["newSession"]);
  return {
    theme: oneOf(given["theme"], ["system", "light", "dark"], DEFAULTS.theme),
    textSize: oneOf(given["textSize"], ["small", "normal", "large"], DEFAULTS.textSize),
    diffLayout: oneOf(given["diffLayout"], ["unified", "split"], DEFAULTS.diffLayout),
    enterSends: flag(given["enterSends"], DEFAULTS.enterSends),
    notify: flag(given["notify"], DEFAULTS.notify),
    sound: flag(given["sound"], DEFAULTS.sound),
    keys: texts(given["keys"]),
    newSession: {
      cwd: word(fresh["cwd"]),
      model: word(fresh["model"]),
      mode: word(fresh["mode"]),
      effort: word(fresh["effort"]),
    },
  };
}

function parsed(text: string | null): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}

function oneOf<T extends string>(value: unknown, allowed: readonly T[], other: T): T {
  return allowed.find((one) => one === value) ?? other;
}

function flag(value: unknown, other: boolean): boolean {
  return typeof value === "boolean" ? value : other;
}

function word(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function texts(value: unknown): Readonly<Record<string, string>> {
  const pairs = Object.entries(fields(value));
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => typeof pair[1] === "string"));
}
