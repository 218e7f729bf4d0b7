/**
 * The five changes, and how they are applied to a document: lists of rows with an `id`, plain
 * objects, texts. Knows nothing about the meaning of rows. Offsets count UTF-16 units, like the
 * length of a string here.
 */
import type { Add, Append, Change, Remove, Replace, SetFields } from "../../protocol/changes.ts";

/** A row of a list. */
export interface Row {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** A document: sections by name, each a list of rows, an object, or a plain value. */
export type Sections = Readonly<Record<string, unknown>>;

type Draft = Record<string, unknown>;

/** The changes belong to another state of the document, which must be opened again. */
export class Mismatch extends Error {
  override readonly name = "Mismatch";
}

/** The document after the changes; unchanged parts are the same objects as before. */
export function apply(before: Sections, changes: readonly Change[]): Sections {
  const draft: Draft = { ...before };
  const copied = new Set<string>();
  for (const change of changes) {
    if (!copied.has(change.to) && Array.isArray(draft[change.to])) {
      draft[change.to] = [...(draft[change.to] as Row[])];
      copied.add(change.to);
    }
    applyChange(draft, change);
  }
  return draft;
}

function applyChange(draft: Draft, change: Change): void {
  switch (change.op) {
    case "add":
      return add(draft, change);
    case "set":
      return set(draft, change);
    case "append":
      return append(draft, change);
    case "remove":
      return remove(draft, change);
    case "replace":
      return replace(draft, change);
  }
}

function add(draft: Draft, change: Add): void {
  const list = rows(draft, change.to);
  const row = change.row as Row;
  if (change.before === null || change.before === undefined) list.push(row);
  else list.splice(indexOf(list, change.before), 0, row);
}

function set(draft: Draft, change: SetFields): void {
  if (change.id === null) {
    draft[change.to] = { ...(draft[change.to] as object), ...change.fields };
    return;
  }
  const list = rows(draft, change.to);
  const at = indexOf(list, change.id);
  list[at] = { ...(list[at] as Row), ...change.fields } as Row;
}

function append(draft: Draft, change: Append): void {
  const list = rows(draft, change.to);
  const at = indexOf(list, change.id);
  const row = list[at] as Row;
  const text = row[change.field];
  if (typeof text !== "string") throw new Mismatch(`${change.field} of ${change.id} is not a text`);
  const beginning = change.offset >= text.length ? text : text.slice(0, change.offset);
  list[at] = { ...row, [change.field]: beginning + change.text };
}

function remove(draft: Draft, change: Remove): void {
  const list = rows(draft, change.to);
  list.splice(indexOf(list, change.id), 1);
}

function replace(draft: Draft, change: Replace): void {
  draft[change.to] = Array.isArray(change.value) ? [...(change.value as Row[])] : change.value;
}

function rows(draft: Draft, section: string): Row[] {
  const list = draft[section];
  if (!Array.isArray(list)) throw new Mismatch(`${section} is not a list`);
  return list as Row[];
}

/** The index of a row, searched from the end because changes usually concern new rows. */
function indexOf(list: readonly Row[], id: string): number {
  for (let at = list.length - 1; at >= 0; at -= 1) if (list[at]?.id === id) return at;
  throw new Mismatch(`no row ${id} in this list`);
}
