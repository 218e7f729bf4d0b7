/** What "always" and "never again" can mean for one request, as lines to choose from. Pure. */
import type { Choice } from "../../protocol/pending.ts";

/** A part of a sentence: words, or a command as it stands. */
export interface Piece {
  readonly text: string;
  readonly code: boolean;
}

export interface Lasting {
  /** `once`, `always:<index>` or `never:<index>`. */
  readonly value: string;
  readonly label: string;
  /** What else it lets through, and what of that was asked before; may be empty. */
  readonly through: readonly Piece[];
  /** Where it is written. */
  readonly place: string;
  /** Whether it reaches beyond the like of this request. */
  readonly wide: boolean;
  /** Whether it outlasts the session, in a settings file. */
  readonly written: boolean;
  /** Why this device may not take it; empty if it may. */
  readonly forbidden: string;
}

const ROLES = ["viewer", "approver", "operator", "owner"];

const PLACES: Readonly<Record<string, string>> = {
  session: "forgotten when this session ends",
  localSettings: "written to .claude/settings.local.json",
  projectSettings: "written to .claude/settings.json, which the project shares",
  userSettings: "written to your ~/.claude/settings.json",
};

/** Whether a role may do what another is needed for. */
export function mayAs(role: string, needed: string): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/** The lines that allow more than this once. */
export function allowing(choices: readonly Choice[], role: string): readonly Lasting[] {
  return choices.map((choice) => ({
    value: `always:${choice.index}`,
    label: isRule(choice) ? `Always ${choice.label}` : capital(choice.label),
    through: through(choice),
    place: PLACES[choice.scope] ?? choice.scope,
    wide: choice.wide,
    written: choice.scope !== "session",
    forbidden: forbidden(choice, role),
  }));
}

/** The lines that let this one run and deny the like from now on. */
export function forbidding(choices: readonly Choice[], role: string): readonly Lasting[] {
  return choices.filter(isRule).map((choice) => ({
    value: `never:${choice.index}`,
    label: `Never again ${choice.label}`,
    through: [],
    place: PLACES[choice.scope] ?? choice.scope,
    wide: false,
    written: choice.scope !== "session",
    forbidden: forbidden(choice, role),
  }));
}

/** The decision and the choices that a line stands for. */
export function decisionOf(value: string): { readonly decision: string; readonly choices: readonly number[] } {
  const [kind, index] = value.split(":");
  if (index === undefined || !kind) return { decision: "allow", choices: [] };
  return { decision: kind, choices: [Number(index)] };
}

/** A rule can also be denied; a mode or a folder cannot. */
function isRule(choice: Choice): boolean {
  return choice.deniable;
}

function through(choice: Choice): readonly Piece[] {
  const earlier = choice.examples.map((text) => [{ text, code: true }]);
  return joined(
    [
      choice.lets_through ? [words("lets through "), ...spans(choice.lets_through)] : [],
      choice.wide && !choice.lets_through ? [words("lets every use through, whatever it does")] : [],
      earlier.length ? [words("earlier in this session: "), ...joined(earlier, ", ")] : [],
    ].filter((part) => part.length > 0),
    "; ",
  );
}

/** The server's sentence, in which a command stands between backticks (`permissions/choices.py`). */
const COMMAND = /(?<=\b(?:begins with|of the form|nothing but) )`([^`]+)`(?=, (?:whatever|with anything|letter by letter))/g;

/** Taken apart only if every backtick is one of the sentence's: one of the command must not vanish. */
function spans(text: string): readonly Piece[] {
  const found = [...text.matchAll(COMMAND)];
  if (text.split("`").length - 1 !== 2 * found.length) return [words(text)];
  const pieces: Piece[] = [];
  let last = 0;
  for (const { 0: whole, 1: command = "", index } of found) {
    pieces.push(words(text.slice(last, index)), { text: command, code: true });
    last = index + whole.length;
  }
  return [...pieces, words(text.slice(last))].filter((piece) => piece.text !== "");
}

function words(text: string): Piece {
  return { text, code: false };
}

function joined(parts: readonly (readonly Piece[])[], between: string): readonly Piece[] {
  return parts.flatMap((part, at) => (at === 0 ? part : [words(between), ...part]));
}

function forbidden(choice: Choice, role: string): string {
  return mayAs(role, choice.role) ? "" : `needs the role ${choice.role}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
