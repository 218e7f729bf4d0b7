/** Profiles: the names that users see, the choices for a new session, and the form of one. Pure. */
import type { ProfileRow } from "../../protocol/lobby.ts";

export interface ProfileChoice {
  readonly value: string;
  readonly label: string;
  readonly about?: string;
}

/** One row of `GET /api/profiles`; the values of its variables are never sent. */
export interface Profile {
  readonly name: string;
  readonly label: string;
  readonly config_dir: string;
  /** The names of the variables. */
  readonly env: readonly string[];
  readonly pass_env: readonly string[];
  readonly from_file: boolean;
  readonly sessions: number;
  readonly live: number;
}

export const DEFAULT_PROFILE = "Default";

/** What a profile is called; an empty name is the default one. */
export function profileLabel(profiles: readonly ProfileRow[], name: string): string {
  if (name === "") return DEFAULT_PROFILE;
  return profiles.find((profile) => profile.name === name)?.label || name;
}

/** The profile to show with a session; empty if there is only one. */
export function shownProfile(profiles: readonly ProfileRow[], name: string): string {
  return profiles.length === 0 && name === "" ? "" : profileLabel(profiles, name);
}

/** The choices for a new session; none if there is only one profile. */
export function profileChoices(profiles: readonly ProfileRow[]): readonly ProfileChoice[] {
  if (profiles.length === 0) return [];
  return [
    { value: "", label: DEFAULT_PROFILE, about: "The account of the server" },
    ...profiles.map(({ name, label }) => ({ value: name, label: label || name, ...(label ? { about: name } : {}) })),
  ];
}

export type Variables = { readonly [name: string]: string | null };

/** Variables from lines `NAME=value`; `NAME` alone keeps the stored value. Otherwise the problem. */
export function variablesIn(text: string, stored: readonly string[]): Variables | string {
  const variables: Record<string, string | null> = {};
  for (const line of text.split("\n").map((each) => each.trim()).filter(Boolean)) {
    const [name = "", ...value] = line.split("=");
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return `“${name}” is not the name of a variable. Write NAME=value.`;
    if (value.length === 0 && !stored.includes(name)) return `The variable ${name} needs a value. Write ${name}=value.`;
    variables[name] = value.length === 0 ? null : value.join("=");
  }
  return variables;
}
