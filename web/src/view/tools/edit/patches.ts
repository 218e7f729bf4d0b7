/** What a call of a file tool changes: the change that was made if it is known, else the requested one. Pure. */
import { compareUntil, type Hunk, hunksBetween, hunksOfNew, hunksOfPatch } from "../diff/diff_model.ts";
import { fieldsOf, listOf, textOf } from "../../../core/plain.ts";

export interface FileChange {
  readonly path: string;
  readonly hunks: readonly Hunk[];
  /** Whether the file did not exist before. */
  readonly created: boolean;
  /** Whether the numbers of the lines are those of the file. */
  readonly numbered: boolean;
  /** Whether every occurrence is replaced, not only one. */
  readonly everywhere: boolean;
}

/** The change that a tool's input requests; null if the tool does not change files. */
export function askedChange(tool: string, input: unknown): FileChange | null {
  const path = textOf(input, "file_path");
  const common = { path, created: false, numbered: false, everywhere: false };
  if (tool === "Write") return { ...common, hunks: hunksOfNew(textOf(input, "content")), numbered: true };
  if (tool === "Edit") {
    const everywhere = fieldsOf(input)["replace_all"] === true;
    return { ...common, hunks: editHunks(input), everywhere };
  }
  if (tool !== "MultiEdit") return null;
  const until = compareUntil();
  return { ...common, hunks: listOf(fieldsOf(input)["edits"]).flatMap((edit) => editHunks(edit, until)) };
}

/** The change that was made, or the requested one before that is known. */
export function changeOf(tool: string, input: unknown, structured: unknown): FileChange | null {
  const asked = askedChange(tool, input);
  const done = fieldsOf(structured);
  const path = textOf(done, "filePath");
  if (asked === null || path === "") return asked;
  if (done["type"] === "create" || (tool === "Write" && done["originalFile"] === null)) {
    const hunks = hunksOfNew(textOf(done, "content"));
    return { path, hunks, created: true, numbered: true, everywhere: false };
  }
  const hunks = hunksOfPatch(done["structuredPatch"]);
  if (hunks.length === 0) return { ...asked, path };
  return { path, hunks, created: false, numbered: true, everywhere: done["replaceAll"] === true };
}

function editHunks(edit: unknown, until = compareUntil()): readonly Hunk[] {
  return hunksBetween(textOf(edit, "old_string"), textOf(edit, "new_string"), true, until);
}
