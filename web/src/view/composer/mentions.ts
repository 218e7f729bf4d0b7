/**
 * What is typed after an @: a path below the session's folder, or a resource of an MCP server. The
 * CLI reads what is named; here it is only found and written. Pure.
 */
import { ranked, type SlashCommand } from "../../core/matching.ts";
import type { Item } from "../../protocol/transcript.ts";
import type { IconName } from "../parts/icons.ts";

/** A line of the list above the field. */
export interface Offer {
  readonly key: string;
  readonly icon: IconName | null;
  readonly label: string;
  /** What belongs behind it, as the arguments of a command. */
  readonly hint: string;
  readonly about: string;
  /** What it puts in the place of what was typed. */
  readonly text: string;
  /** Whether the search goes on from there, as in a folder. */
  readonly goesOn: boolean;
}

/** The letters after an @, and where it stands. */
export interface Mention {
  readonly start: number;
  readonly letters: string;
}

export interface FoundName {
  readonly path: string;
  readonly is_folder: boolean;
}

export interface Resource {
  readonly server: string;
  readonly uri: string;
  readonly name: string;
}

const MOST = 50;

/** What is being named at the caret; null if nothing is. An @ inside a word is an address. */
export function mentionAt(text: string, caret: number): Mention | null {
  const match = /(?:^|[\s(\[{'",])@(?:"([^"\n]*)|([^\s"]*))$/.exec(text.slice(0, caret));
  if (!match) return null;
  const letters = match[1] ?? match[2] ?? "";
  const quoted = match[1] !== undefined;
  return { start: caret - letters.length - (quoted ? 2 : 1), letters };
}

/** A text with a mention replaced, and where the caret is then. */
export function withMention(
  text: string,
  caret: number,
  at: Mention,
  offer: Offer,
): { readonly text: string; readonly caret: number } {
  const rest = text.slice(caret).replace(/^"/, "");
  const gap = offer.goesOn || /^\s/.test(rest) ? "" : " ";
  const before = `${text.slice(0, at.start)}${offer.text}${gap}`;
  return { text: before + rest, caret: before.length };
}

/** Files and folders as lines. */
export function nameOffers(names: readonly FoundName[]): readonly Offer[] {
  return names.map(({ path, is_folder }) => {
    const [folder, name] = split(path);
    return {
      key: `file ${path}`,
      icon: is_folder ? "folder" : "file",
      label: name,
      hint: "",
      about: folder,
      text: written(path, is_folder),
      goesOn: is_folder,
    };
  });
}

/** Resources that fit, as lines. */
export function resourceOffers(letters: string, all: readonly Resource[]): readonly Offer[] {
  const named = (one: Resource) => `${one.server}:${one.uri} ${one.name}`;
  return ranked(letters, all, named)
    .slice(0, MOST)
    .map((one) => ({
      key: `resource ${one.server} ${one.uri}`,
      icon: "plug",
      label: one.name || one.uri,
      hint: "",
      about: `${one.server}:${one.uri}`,
      text: `@${one.server}:${one.uri}`,
      goesOn: false,
    }));
}

/** Commands that fit, as lines. */
export function commandOffers(letters: string, all: readonly SlashCommand[]): readonly Offer[] {
  return ranked(letters, all, (one) => one.name)
    .slice(0, MOST)
    .map((one) => ({
      key: `command ${one.name}`,
      icon: null,
      label: `/${one.name}`,
      hint: one.hint,
      about: one.description,
      text: `/${one.name}`,
      goesOn: false,
    }));
}

/** The resources that the session has listed so far; the last list of each server counts. */
export function knownResources(items: readonly Item[]): readonly Resource[] {
  const found = new Map<string, Resource>();
  for (const item of items) {
    if (item.kind !== "tool" || !/^ListMcpResources(Tool)?$/.test(item.name)) continue;
    for (const one of rows(item.structured) ?? rows(parsed(item.result)) ?? []) {
      const resource = { server: text(one, "server"), uri: text(one, "uri"), name: text(one, "name") };
      if (resource.server && resource.uri) found.set(`${resource.server} ${resource.uri}`, resource);
    }
  }
  return [...found.values()];
}

/** A name with a blank in it stands in quotes, which stay open while the search goes on. */
function written(path: string, goesOn: boolean): string {
  if (!/\s/.test(path)) return `@${path}`;
  return goesOn ? `@"${path}` : `@"${path}"`;
}

function split(path: string): readonly [folder: string, name: string] {
  const at = path.replace(/\/$/, "").lastIndexOf("/") + 1;
  return [path.slice(0, at), path.slice(at)];
}

function parsed(result: string | null): unknown {
  try {
    return JSON.parse(result ?? "");
  } catch {
    return null;
  }
}

function rows(value: unknown): readonly unknown[] | null {
  return Array.isArray(value) ? value : null;
}

function text(value: unknown, name: string): string {
  const found = (value as Readonly<Record<string, unknown>> | null)?.[name];
  return typeof found === "string" ? found : "";
}
