/**
 * The preferences of this device: appearance, keys, notifications, and the defaults of new sessions.
 * Reading is lenient: an unknown value becomes the default, so an older page can read what a newer
 * one stored. Pure; `view/preferences` stores them.
 */

export type Theme = "system" | "light" | "dark";
export type TextSize = "small" | "normal" | "large";
export type SidebarGrouping = "time" | "project";
export type DiffLayout = "unified" | "split";

/** The defaults of the form for a new session; an empty text means the server's default. */
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
  /** How the list of sessions is divided. */
  readonly grouping: SidebarGrouping;
  /** Whether Enter sends and Shift+Enter breaks the line; otherwise Ctrl+Enter sends. */
  readonly enterSends: boolean;
  /** Whether the system may show a notification when a request needs the user. */
  readonly notify: boolean;
  /** Whether a sound is played when a request needs the user. */
  readonly sound: boolean;
  /** Keys by the name of their action, only those that differ from the defaults. */
  readonly keys: Readonly<Record<string, string>>;
  /** Whether letters and digits work as shortcuts without Ctrl or Alt. */
  readonly singleKeys: boolean;
  readonly newSession: NewSessionDefaults;
  /** The address that opens a file in an editor, with {path} and {line}; empty for none. */
  readonly editorUrl: string;
}

export const DEFAULTS: Preferences = {
  theme: "system",
  textSize: "normal",
  diffLayout: "unified",
  grouping: "time",
  enterSends: true,
  notify: false,
  sound: false,
  keys: {},
  singleKeys: true,
  newSession: { cwd: "", model: "", mode: "", effort: "" },
  editorUrl: "",
};

/** The preferences in a stored text; a missing or invalid value becomes the default. */
export function readPreferences(text: string | null): Preferences {
  const stored = fields(parsed(text));
  const newSession = fields(stored["newSession"]);
  return {
    theme: oneOf(stored["theme"], ["system", "light", "dark"], DEFAULTS.theme),
    textSize: oneOf(stored["textSize"], ["small", "normal", "large"], DEFAULTS.textSize),
    diffLayout: oneOf(stored["diffLayout"], ["unified", "split"], DEFAULTS.diffLayout),
    grouping: oneOf(stored["grouping"], ["time", "project"], DEFAULTS.grouping),
    enterSends: flag(stored["enterSends"], DEFAULTS.enterSends),
    notify: flag(stored["notify"], DEFAULTS.notify),
    sound: flag(stored["sound"], DEFAULTS.sound),
    keys: texts(stored["keys"]),
    singleKeys: flag(stored["singleKeys"], DEFAULTS.singleKeys),
    newSession: {
      cwd: textOf(newSession["cwd"]),
      model: textOf(newSession["model"]),
      mode: textOf(newSession["mode"]),
      effort: textOf(newSession["effort"]),
    },
    editorUrl: textOf(stored["editorUrl"]),
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

function oneOf<T extends string>(value: unknown, allowed: readonly T[], fallback: T): T {
  return allowed.find((each) => each === value) ?? fallback;
}

function flag(value: unknown, fallback: boolean): boolean {
  return typeof value === "boolean" ? value : fallback;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function texts(value: unknown): Readonly<Record<string, string>> {
  const pairs = Object.entries(fields(value));
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => typeof pair[1] === "string"));
}
