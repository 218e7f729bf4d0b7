/** Reading values nobody promised the shape of: a wrong kind is as good as a missing one. Pure. */
import type { Shortened } from "../../core/documents.ts";

export type Fields = Readonly<Record<string, unknown>>;

const NONE: Fields = {};

/** The value as an object; an empty one if it is none. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : NONE;
}

/** The value as a list; an empty one if it is none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** The text in a field; empty if there is none. */
export function textOf(value: unknown, name: string): string {
  const found = fieldsOf(value)[name];
  return typeof found === "string" ? found : "";
}

/** The number in a field, or null. */
export function numberOf(value: unknown, name: string): number | null {
  const found = fieldsOf(value)[name];
  return typeof found === "number" ? found : null;
}

/** The texts of a list, without what is no text. */
export function textsOf(value: unknown): readonly string[] {
  return listOf(value).filter((one): one is string => typeof one === "string");
}

/** A field's value as one reads it: a text as it is, anything else as JSON. */
export function shownValue(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
}

/** A count with its noun: `1 file`, `12 files`; `12+ files` if there may be more than are here. */
export function counted(count: number, noun: string, plural = `${noun}s`, more = false): string {
  return `${count.toLocaleString("en")}${more ? "+" : ""} ${count === 1 && !more ? noun : plural}`;
}

/** How many lines there are of a field; `8,192+ lines` where only its beginning is here. */
export function countedLines(count: number, { cut = {} }: Shortened, ...fields: readonly string[]): string {
  return counted(count, "line", "lines", fields.some((name) => name in cut));
}

/** What a tool said when it failed, without the tags the CLI wraps it in. */
export function errorText(result: string | null): string {
  return (result ?? "").replace(/^<tool_use_error>([\s\S]*)<\/tool_use_error>$/, "$1").trim();
}
