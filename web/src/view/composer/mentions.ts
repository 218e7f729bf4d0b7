/**
 * Mentions after an @: a path below the session's folder, or a resource of an MCP server. The CLI
 * reads the files; this module only completes the names. Pure.
 */
import { ranked, type SlashCommand } from "../../core/matching.ts";
import type { Item } from "../../protocol/transcript.ts";
import type { IconName } from "../parts/icons.ts";

/** A line of the list above the field. */
export interface Offer {
  readonly key: string;
  readonly icon: IconName | null;
  readonly label: string;
  /** A hint after it, such as the arguments of a command. */
  readonly hint: string;
  readonly about: string;
  /** The text that replaces the typed text. */
  readonly text: string;
  /** Whether the completion continues, as in a folder. */
  readonly goesOn: boolean;
}

/** The characters after an @, and its position. */
export interface Mention {
  readonly start: number;
  readonly typed: string;
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
/** Characters; more than the longest path, and few enough to try every @ among them. */
const LONGEST = 1_500;
const MENTION = /(?:^|[\s(\[{'",])@(?:"([^"\n]*)|([^\s"]*))$/;

/** The mention at the caret; null if there is none. An @ inside a word is part of an address. */
export function mentionAt(text: string, caret: number): Mention | null {
  const from = Math.max(0, caret - LONGEST);
  // A text that is cut does not begin there, so a character stands for the rest.
  const match = MENTION.exec((from > 0 ? "x" : "") + text.slice(from, caret));
  if (!match) return null;
  const typed = match[1] ?? match[2] ?? "";
  const quoted = match[1] !== undefined;
  return { start: caret - typed.length - (quoted ? 2 : 1), typed };
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
export function resourceOffers(typed: string, all: readonly Resource[]): readonly Offer[] {
  const named = (resource: Resource) => `${resource.server}:${resource.uri} ${resource.name}`;
  return ranked(typed, all, named)
    .slice(0, MOST)
    .map((resource) => ({
      key: `resource ${resource.server} ${resource.uri}`,
      icon: "plug",
      label: resource.name || resource.uri,
      hint: "",
      about: `${resource.server}:${resource.uri}`,
      text: `@${resource.server}:${resource.uri}`,
      goesOn: false,
    }));
}

/** Servers whose resources can be mentioned although none of them was listed yet. */
export function serverOffers(typed: string, servers: readonly string[]): readonly Offer[] {
  if (typed.includes(":")) return [];
  return ranked(typed, servers, (server) => server)
    .slice(0, MOST)
    .map((server) => ({
      key: `server ${server}`,
      icon: "plug",
      label: `${server}:`,
      hint: "",
      about: "a resource of this MCP server, by its address",
      text: `@${server}:`,
      goesOn: true,
    }));
}

/** The names of the MCP servers that are connected. */
export function connected(servers: readonly unknown[]): readonly string[] {
  return servers.filter((server) => text(server, "status") === "connected").map((server) => text(server, "name")).filter(Boolean);
}

/** Commands that fit, as lines. */
export function commandOffers(typed: string, all: readonly SlashCommand[]): readonly Offer[] {
  return ranked(typed, all, (command) => command.name)
    .slice(0, MOST)
    .map((command) => ({
      key: `command ${command.name}`,
      icon: null,
      label: `/${command.name}`,
      hint: command.hint,
      about: command.description,
      text: `/${command.name}`,
      goesOn: false,
    }));
}

/** The resources that the session has listed; the last list of each server counts. */
export function knownResources(items: readonly Item[]): readonly Resource[] {
  const resources = new Map<string, Resource>();
  for (const item of items) {
    if (item.kind !== "tool" || !/^ListMcpResources(Tool)?$/.test(item.name)) continue;
    for (const row of rows(item.structured) ?? rows(parsed(item.result)) ?? []) {
      const resource = { server: text(row, "server"), uri: text(row, "uri"), name: text(row, "name") };
      if (resource.server && resource.uri) resources.set(`${resource.server} ${resource.uri}`, resource);
    }
  }
  return [...resources.values()];
}

/** A name with a space is quoted; the quote stays open while the completion continues. */
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
