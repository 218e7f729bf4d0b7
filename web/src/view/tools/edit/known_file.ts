/**
 * The text of a file as the conversation last showed it: so that a change can be shown with line
 * numbers and context before it is made. Pure. A change that does not fit the text exactly once is
 * shown without them: numbers that may be wrong are worse than none.
 */
import { fieldsOf, numberOf, textOf } from "../../../core/plain.ts";
import type { Item, ToolItem } from "../../../protocol/transcript.ts";
import { compareUntil, type Hunk, hunksBetween } from "../diff/diff_model.ts";

export interface KnownText {
  readonly text: string;
  /** The number of its first line. */
  readonly start: number;
  /** Whether it is the whole file. */
  readonly whole: boolean;
}

const LONGEST = 400_000;
const CHANGES = new Set(["Edit", "MultiEdit", "Write", "NotebookEdit"]);

/** What the conversation knows of a file; null if nothing, or if it was changed since. */
export function knownText(items: readonly Item[], path: string): KnownText | null {
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at];
    if (item?.kind !== "tool" || item.state !== "done") continue;
    const known = item.name === "Read" ? readText(item, path) : null;
    if (known !== null) return known;
    if (CHANGES.has(item.name) && textOf(item.input, "file_path") === path) return changedText(item);
  }
  return null;
}

function readText(item: ToolItem, path: string): KnownText | null {
  const file = fieldsOf(fieldsOf(item.structured)["file"]);
  const text = textOf(file, "content");
  if (textOf(file, "filePath") !== path || text === "" || text.length > LONGEST || isCut(item)) return null;
  const [start, lines, all] = [numberOf(file, "startLine") ?? 1, numberOf(file, "numLines"), numberOf(file, "totalLines")];
  return { text, start, whole: start === 1 && lines !== null && lines === all };
}

/** The file after an edit whose result has the text before it. */
function changedText(item: ToolItem): KnownText | null {
  const done = fieldsOf(item.structured);
  const [before, old, fresh] = [textOf(done, "originalFile"), textOf(done, "oldString"), textOf(done, "newString")];
  if (isCut(item) || before.length > LONGEST) return null;
  if (item.name === "Write") return { text: textOf(item.input, "content"), start: 1, whole: true };
  if (item.name !== "Edit" || old === "" || !before.includes(old)) return null;
  const text = done["replaceAll"] === true ? before.split(old).join(fresh) : before.replace(old, () => fresh);
  return { text, start: 1, whole: true };
}

function isCut(item: ToolItem): boolean {
  return "structured" in (item.cut ?? {}) || "input" in (item.cut ?? {});
}

/** The hunks of an edit inside a known text, with the file's line numbers; null if it does not fit. */
export function hunksInside(known: KnownText, edit: unknown): readonly Hunk[] | null {
  const [old, fresh] = [textOf(edit, "old_string"), textOf(edit, "new_string")];
  const everywhere = fieldsOf(edit)["replace_all"] === true;
  const parts = old === "" ? [] : known.text.split(old);
  if (parts.length < 2 || (parts.length > 2 && !everywhere)) return null;
  return moved(hunksBetween(known.text, parts.join(fresh), false, compareUntil()), known.start - 1);
}

/** The hunks of a new text for a whole known file. */
export function hunksOver(known: KnownText, text: string): readonly Hunk[] | null {
  return known.whole ? hunksBetween(known.text, text, false, compareUntil()) : null;
}

function moved(hunks: readonly Hunk[], by: number): readonly Hunk[] {
  if (by === 0) return hunks;
  const shifted = (line: number | null): number | null => (line === null ? null : line + by);
  return hunks.map((hunk) => ({
    ...hunk,
    lines: hunk.lines.map((line) => ({ ...line, before: shifted(line.before), after: shifted(line.after) })),
  }));
}
