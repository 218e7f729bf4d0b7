/** Looking for words in the items of a conversation that are here; the server looks in the others. */
import type { Shortened } from "./documents.ts";
import type { Item } from "../protocol/transcript.ts";

/** Items, and letters of theirs, that are looked at before somebody else gets a turn. */
const AT_ONCE = 300;
const LETTERS_AT_ONCE = 500_000;

/** What of an item is kept in small letters, so that typing on costs nothing. */
const small = new WeakMap<Item, string>();

/**
 * The ids of the items that hold these words, in their order; gives the turn away now and then.
 * Large and small letters are the same.
 */
export function* finding(items: readonly Item[], words: string): Generator<void, readonly string[]> {
  const wanted = words.toLowerCase();
  const found: string[] = [];
  let letters = 0;
  for (const [at, item] of items.entries()) {
    if (wanted === "") break;
    const text = lettersOf(item);
    if (text.includes(wanted)) found.push(item.id);
    letters += text.length;
    if (at % AT_ONCE < AT_ONCE - 1 && letters < LETTERS_AT_ONCE) continue;
    letters = 0;
    yield;
  }
  return found;
}

/** The fields of which `textOf` reads. */
const READ: readonly string[] = ["args", "data", "input", "result", "summary", "text", "title", "type"];

/** How long the fields of an item are that are searched and of which only the beginning is here; or 0. */
export function lengthSearchedInPart({ cut = {} }: Shortened): number {
  return READ.reduce((sum, name) => sum + (cut[name] ?? 0), 0);
}

/** All that a person can read of an item. */
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

function lettersOf(item: Item): string {
  const known = small.get(item);
  if (known !== undefined) return known;
  const made = textOf(item).toLowerCase();
  small.set(item, made);
  return made;
}

/** Every text within a value. */
function texts(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  if (value === null || typeof value !== "object") return [];
  return Object.values(value).flatMap(texts);
}

/** The place before or after, around the ends; -1 if there is none. */
export function stepped(count: number, at: number, by: 1 | -1): number {
  return count === 0 ? -1 : (at + by + count) % count;
}
