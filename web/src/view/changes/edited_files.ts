/** The changes that the file tools of a conversation made, as a list of files. Pure. */
import type { ChangedFile } from "../../core/workbench/changes.ts";
import { fieldsOf } from "../../core/plain.ts";
import type { Item, ToolItem } from "../../protocol/transcript.ts";
import { countLines, type Hunk } from "../tools/diff/diff_model.ts";
import { changeOf } from "../tools/edit/patches.ts";
import { shortPath } from "../tools/generic/generic.ts";
import { fileId } from "./file_ids.ts";

/** A file with the changes of each call, oldest first. */
export interface EditedFile {
  readonly file: ChangedFile;
  readonly hunks: readonly Hunk[];
  /** The file before the first change, as the CLI reported it; null if that is not known. */
  readonly original: string | null;
}

/** The items from the last prompt of the user on. */
export function lastTurn(items: readonly Item[]): readonly Item[] {
  const at = items.findLastIndex((item) => item.kind === "prompt");
  return at < 0 ? items : items.slice(at);
}

/** The files that finished calls of file tools changed, by path. */
export function editedFiles(items: readonly Item[], cwd: string | null): readonly EditedFile[] {
  const files = new Map<string, { hunks: Hunk[]; created: boolean; original: string | null }>();
  for (const item of items) {
    if (item.kind !== "tool" || item.state !== "done") continue;
    const change = changeOf(item.name, item.input, item.structured);
    if (change === null || change.path === "") continue;
    const known = files.get(change.path) ?? { hunks: [], created: change.created, original: originalOf(item, change.created) };
    known.hunks.push(...change.hunks);
    files.set(change.path, known);
  }
  return [...files]
    .map(([path, { hunks, created, original }]): EditedFile => {
      const name = shortPath(path, cwd).replace(/^\//, "");
      return { file: { id: fileId(name), path: name, kind: created ? "added" : "modified", ...countLines(hunks) }, hunks, original };
    })
    .sort((first, second) => (first.file.path < second.file.path ? -1 : 1));
}

/** What the result of a call says the file was before; null if it does not, or if it was cut. */
function originalOf(item: ToolItem, created: boolean): string | null {
  if (created) return "";
  const original = fieldsOf(item.structured)["originalFile"];
  return typeof original === "string" && !("structured" in (item.cut ?? {})) ? original : null;
}
