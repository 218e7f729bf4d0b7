/** Searches the loaded items of a conversation; the server searches the others. */
import type { Shortened } from "../connection/documents.ts";
import type { Item } from "../../protocol/transcript.ts";

/** Items, and characters, that are searched before other work may run. */
const AT_ONCE = 300;
const CHARACTERS_AT_ONCE = 500_000;

/** The texts of items in lower case, cached so that further typing costs nothing. */
const lowerCase = new WeakMap<Item, string>();

/**
 * The ids of the items that contain a text, in order; yields now and then so that other work may
 * run. Case is ignored.
 */
export function* finding(items: readonly Item[], query: string): Generator<void, readonly string[]> {
  const wanted = query.toLowerCase();
  const matches: string[] = [];
  let characters = 0;
  for (const [at, item] of items.entries()) {
    if (wanted === "") break;
    const text = lowerCaseText(item);
    if (text.includes(wanted)) matches.push(item.id);
    characters += text.length;
    if (at % AT_ONCE < AT_ONCE - 1 && characters < CHARACTERS_AT_ONCE) continue;
    characters = 0;
    yield;
  }
  return matches;
}

/** The fields that `textOf` uses. */
const READ: readonly string[] = ["args", "data", "input", "result", "summary", "text", "title", "type"];

/** The full length of the searched fields of an item of which only the beginning is loaded; or 0. */
export function lengthSearchedInPart({ cut = {} }: Shortened): number {
  return READ.reduce((sum, name) => sum + (cut[name] ?? 0), 0);
}

/** All text of an item that a person can read. */
export function textOf(item: Item): string {
  switch (item.kind) {
    case "prompt":
    case "text":
    case "thinking":
    case "notice":
      return item.text;
    case "command":
      return `/${item.command} ${item.args}\n${item.text}`;
    case "tool":
      return [item.title, ...texts(item.input), item.result ?? "", item.summary ?? ""].join("\n");
    case "unknown":
      return [item.type, item.text, ...texts(item.data)].join("\n");
  }
}

function lowerCaseText(item: Item): string {
  const cached = lowerCase.get(item);
  if (cached !== undefined) return cached;
  const text = textOf(item).toLowerCase();
  lowerCase.set(item, text);
  return text;
}

/** Every text in a value. */
function texts(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  if (value === null || typeof value !== "object") return [];
  return Object.values(value).flatMap(texts);
}

/** The previous or next index, around the ends; -1 if there is none. */
export function stepped(count: number, at: number, by: 1 | -1): number {
  return count === 0 ? -1 : (at + by + count) % count;
}
