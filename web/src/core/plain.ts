/** Reads values of unknown types: a value of a wrong type counts as missing. Pure. */
import type { Shortened } from "./connection/documents.ts";

export type Fields = Readonly<Record<string, unknown>>;

const NONE: Fields = {};

/** The value as an object; an empty object if it is not one. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : NONE;
}

/** The value as a list; an empty list if it is not one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** The text in a field; empty if there is none. */
export function textOf(value: unknown, name: string): string {
  const field = fieldsOf(value)[name];
  return typeof field === "string" ? field : "";
}

/** The number in a field, or null. */
export function numberOf(value: unknown, name: string): number | null {
  const field = fieldsOf(value)[name];
  return typeof field === "number" ? field : null;
}

/** The texts of a list, without other values. */
export function textsOf(value: unknown): readonly string[] {
  return listOf(value).filter((each): each is string => typeof each === "string");
}

/** A field's value for people: a text unchanged, anything else as JSON. */
export function shownValue(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
}

/** A count with its noun: `1 file`, `12 files`; `12+ files` if there may be more than are loaded. */
export function counted(count: number, noun: string, plural = `${noun}s`, more = false): string {
  return `${count.toLocaleString("en")}${more ? "+" : ""} ${count === 1 && !more ? noun : plural}`;
}

/** The number of lines of a field; `8,192+ lines` if only its beginning is loaded. */
export function countedLines(count: number, { cut = {} }: Shortened, ...fields: readonly string[]): string {
  return counted(count, "line", "lines", fields.some((name) => name in cut));
}

/** The error message of a tool, without the tags of the CLI. */
export function errorText(result: string | null): string {
  return (result ?? "").replace(/^<tool_use_error>([\s\S]*)<\/tool_use_error>$/, "$1").trim();
}

/** A message as a sentence, with a capital at its start and punctuation at its end. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  if (trimmed === "") return "";
  return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}${/[.?!…]$/.test(trimmed) ? "" : "."}`;
}
