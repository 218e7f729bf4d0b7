/** What "always" and "never again" can mean for one request, as lines to choose from. Pure. */
import type { Choice } from "../../core/documents.ts";

export interface Lasting {
  /** `once`, `always:<index>` or `never:<index>`. */
  readonly value: string;
  readonly label: string;
  /** What else it lets through, and what of that was asked before; may be empty. */
  readonly through: string;
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
    through: "",
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

function through(choice: Choice): string {
  const earlier = choice.examples ?? [];
  return [
    choice.lets_through ? `lets through ${choice.lets_through}` : "",
    choice.wide && !choice.lets_through ? "lets every use through, whatever it does" : "",
    earlier.length ? `earlier in this session: ${earlier.join(", ")}` : "",
  ]
    .filter(Boolean)
    .join("; ");
}

function forbidden(choice: Choice, role: string): string {
  return mayAs(role, choice.role) ? "" : `needs the role ${choice.role}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
