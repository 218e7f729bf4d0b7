/** The lines of a difference with the gaps between its hunks, which can be filled. Pure. */
import type { Side } from "../../core/workbench/comments.ts";
import { CONTEXT, lineText, type DiffLine, type Hunk } from "../tools/diff/diff_model.ts";

/** Unchanged lines that are not loaded, by their numbers in the new version; without an end if the file's length is not known. */
export interface Gap {
  readonly from: number;
  readonly to: number | null;
}

export type LineBlock = { readonly kind: "lines"; readonly lines: readonly DiffLine[] } | { readonly kind: "gap"; readonly gap: Gap };

/** Hunks with the lines between them that are known, and the gaps that are left. */
export function lineBlocks(hunks: readonly Hunk[], known: ReadonlyMap<number, string>, total: number | null): readonly LineBlock[] {
  const blocks: LineBlock[] = [];
  let next = 1;
  let shift = 0;
  for (const { lines } of hunks) {
    const after = lines.find((line) => line.after !== null)?.after ?? next;
    fill(blocks, next, after - 1, shift, known);
    blocks.push({ kind: "lines", lines });
    for (const line of lines) {
      if (line.after !== null) next = line.after + 1;
      shift += line.kind === "removed" ? 1 : line.kind === "added" ? -1 : 0;
    }
    next = Math.max(next, after);
  }
  if (hunks.length === 0) return blocks;
  if (total === null && known.size === 0 && endsHere(hunks)) return joined(blocks);
  const end = total ?? next + known.size;
  fill(blocks, next, end, shift, known, total === null);
  return joined(blocks);
}

/** Whether the last hunk reaches the end of the file: otherwise it ends with a full number of unchanged lines. */
function endsHere(hunks: readonly Hunk[]): boolean {
  const lines = hunks.at(-1)?.lines ?? [];
  const last = lines.findLastIndex((line) => line.kind !== "same");
  return lines.length - 1 - last < CONTEXT;
}

/** The number of a line on a side; null if the line is not there. */
export function numberOn(line: DiffLine, side: Side): number | null {
  return side === "new" ? line.after : line.before;
}

/** The side that a comment on a line belongs to. */
export function sideOf(line: DiffLine): Side {
  return line.kind === "removed" ? "old" : "new";
}

/** The texts of the lines from `start` to `end` of a side; null unless all of them are loaded. */
export function codeOf(blocks: readonly LineBlock[], side: Side, start: number, end: number): string | null {
  const texts = new Map<number, string>();
  for (const block of blocks) {
    if (block.kind === "gap") continue;
    for (const line of block.lines) {
      const number = numberOn(line, side);
      if (number !== null && number >= start && number <= end) texts.set(number, lineText(line));
    }
  }
  if (texts.size !== end - start + 1) return null;
  return [...texts].sort(([first], [second]) => first - second).map(([, text]) => text).join("\n");
}

/** Unchanged lines `from` to `to`: those that are known, and gaps for the others. */
function fill(blocks: LineBlock[], from: number, to: number, shift: number, known: ReadonlyMap<number, string>, open = false): void {
  let lines: DiffLine[] = [];
  let missing = 0;
  const close = (number: number): void => {
    if (lines.length) blocks.push({ kind: "lines", lines });
    if (missing) blocks.push({ kind: "gap", gap: { from: number - missing, to: number - 1 } });
    lines = [];
    missing = 0;
  };
  for (let number = from; number <= to; number += 1) {
    const text = known.get(number);
    if (text === undefined) {
      if (open) break;
      if (lines.length) close(number);
      missing += 1;
      continue;
    }
    if (missing) close(number);
    lines.push({ kind: "same", before: number + shift, after: number, pieces: [{ text, changed: false }] });
  }
  const last = lines.at(-1)?.after ?? from - 1;
  close(to + 1);
  if (open) blocks.push({ kind: "gap", gap: { from: last + 1, to: null } });
}

/** Runs of lines that follow each other are one block. */
function joined(blocks: readonly LineBlock[]): readonly LineBlock[] {
  const out: LineBlock[] = [];
  for (const block of blocks) {
    const last = out.at(-1);
    if (block.kind === "lines" && last?.kind === "lines") out[out.length - 1] = { kind: "lines", lines: [...last.lines, ...block.lines] };
    else out.push(block);
  }
  return out;
}
