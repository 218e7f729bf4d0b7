/** The changes of one file in the loaded part of a conversation. Pure. */
import type { Item, ToolItem } from "../../protocol/transcript.ts";
import type { Hunk } from "../tools/diff/diff_model.ts";
import { hunksBetween } from "../tools/diff/diff_model.ts";
import { textOf } from "../../core/plain.ts";
import { changeOf } from "../tools/edit/patches.ts";

export interface FileEdit {
  readonly id: string;
  readonly at: number;
  readonly tool: string;
  readonly hunks: readonly Hunk[];
  readonly numbered: boolean;
  readonly created: boolean;
}

/** The changes of a file, oldest first. */
export function editsOf(path: string, items: readonly Item[]): readonly FileEdit[] {
  return items
    .filter((item): item is ToolItem => item.kind === "tool" && item.state === "done")
    .map((item) => edit(path, item))
    .filter((edit) => edit !== null);
}

function edit(path: string, item: ToolItem): FileEdit | null {
  const common = { id: item.id, at: item.ended ?? item.at, tool: item.name };
  if (item.name === "NotebookEdit") {
    if (textOf(item.input, "notebook_path") !== path) return null;
    const [before, after] = [textOf(item.structured, "old_source"), textOf(item.input, "new_source")];
    return { ...common, hunks: hunksBetween(before, after, true), numbered: false, created: false };
  }
  const change = changeOf(item.name, item.input, item.structured);
  if (change === null || change.path !== path) return null;
  return { ...common, hunks: change.hunks, numbered: change.numbered, created: change.created };
}
