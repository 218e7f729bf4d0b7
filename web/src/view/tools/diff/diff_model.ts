/**
 * A change of a text as lines to draw: from the hunks the CLI sends, or from two texts. Words that
 * changed inside a line are marked. Pure; `Diff.svelte` draws it.
 */
import { diffWordsWithSpace, structuredPatch } from "diff";
import { fieldsOf, listOf, numberOf, textsOf } from "../../../core/plain.ts";

export type LineKind = "same" | "added" | "removed";

/** A piece of a line, and whether it changed. */
export interface Piece {
  readonly text: string;
  readonly changed: boolean;
}

export interface DiffLine {
  readonly kind: LineKind;
  /** Its number before and after the change; null if it does not exist there. */
  readonly before: number | null;
  readonly after: number | null;
  readonly pieces: readonly Piece[];
}

export interface Hunk {
  readonly lines: readonly DiffLine[];
  /** Whether the texts differ too much to be compared: all lines are removed, then all are added. */
  readonly unlike?: true;
}

/** Two lines side by side; null if there is none. */
export interface Pair {
  readonly left: DiffLine | null;
  readonly right: DiffLine | null;
}

export interface Counts {
  readonly added: number;
  readonly removed: number;
}

interface RawHunk {
  readonly oldStart: number;
  readonly newStart: number;
  readonly lines: readonly string[];
}

/** Unchanged lines around a change, here and in what the server sends. */
export const CONTEXT = 3;
/** The time limit of one change, because comparing takes quadratic time and a change may have many parts. */
const TIMEOUT_MS = 120;
/** Most characters of a line whose words are compared. */
const LONGEST_LINE = 2_000;
/** Most changed lines in a run whose words are compared. */
const MOST_PAIRED = 200;
/** The share of two lines that must be equal for marked words to be useful. */
const LEAST_ALIKE = 0.3;

/** The time at which comparing stops for one change. */
export function compareUntil(): number {
  return performance.now() + TIMEOUT_MS;
}

/** The hunks of a `structuredPatch`; empty for any other value. */
export function hunksOfPatch(patch: unknown, until = compareUntil()): readonly Hunk[] {
  const raw = listOf(patch).map((hunk) => ({
    oldStart: numberOf(hunk, "oldStart") ?? 1,
    newStart: numberOf(hunk, "newStart") ?? 1,
    lines: textsOf(fieldsOf(hunk)["lines"]),
  }));
  return raw.filter((hunk) => hunk.lines.length > 0).map((hunk) => numbered(hunk, until));
}

/** The hunks between two texts. With `whole` every line is there, else a few around each change. */
export function hunksBetween(before: string, after: string, whole = false, until = compareUntil()): readonly Hunk[] {
  if (before === after) return [];
  const context = whole ? Number.MAX_SAFE_INTEGER : CONTEXT;
  const timeout = until - performance.now();
  const patch = timeout > 0 ? structuredPatch("", "", before, after, "", "", { context, timeout }) : undefined;
  if (patch) return patch.hunks.map((hunk) => numbered(hunk, until));
  return [{ ...numbered(replaced(before, after), until), unlike: true }];
}

/** A text that did not exist before, complete. */
export function hunksOfNew(text: string): readonly Hunk[] {
  return text === "" ? [] : [numbered({ oldStart: 0, newStart: 1, lines: marked(text, "+") }, 0)];
}

export function countLines(hunks: readonly Hunk[]): Counts {
  const all = hunks.flatMap((hunk) => hunk.lines);
  return {
    added: all.filter((line) => line.kind === "added").length,
    removed: all.filter((line) => line.kind === "removed").length,
  };
}

/** The lines of a hunk side by side: removed lines to the left of the lines that replace them. */
export function sideBySide(hunk: Hunk): readonly Pair[] {
  const pairs: Pair[] = [];
  for (const group of grouped(hunk.lines)) {
    const { removed, added, same } = group;
    for (let at = 0; at < Math.max(removed.length, added.length); at += 1) {
      pairs.push({ left: removed[at] ?? null, right: added[at] ?? null });
    }
    for (const line of same) pairs.push({ left: line, right: line });
  }
  return pairs;
}

/** The text of a line. */
export function lineText(line: DiffLine): string {
  return line.pieces.map((piece) => piece.text).join("");
}

function replaced(before: string, after: string): RawHunk {
  return { oldStart: 1, newStart: 1, lines: [...marked(before, "-"), ...marked(after, "+")] };
}

function marked(text: string, mark: string): string[] {
  const lines = text.split("\n");
  const ends = lines.at(-1) === "";
  if (ends) lines.pop();
  const out = lines.map((line) => mark + line);
  if (!ends) out.push("\\ No newline at end of file");
  return out;
}

function numbered(hunk: RawHunk, until: number): Hunk {
  let before = hunk.oldStart;
  let after = hunk.newStart;
  const lines: DiffLine[] = [];
  for (const raw of hunk.lines) {
    const mark = raw[0];
    const pieces = [{ text: raw.slice(1), changed: false }];
    if (mark === "\\") continue;
    if (mark === "-") lines.push({ kind: "removed", before: before++, after: null, pieces });
    else if (mark === "+") lines.push({ kind: "added", before: null, after: after++, pieces });
    else lines.push({ kind: "same", before: before++, after: after++, pieces });
  }
  return { lines: grouped(lines).flatMap((group) => wordsMarked(group, until)) };
}

interface Group {
  readonly removed: readonly DiffLine[];
  readonly added: readonly DiffLine[];
  readonly same: readonly DiffLine[];
}

/** Runs of removed lines, the added lines that follow, and the unchanged lines after these. */
function grouped(lines: readonly DiffLine[]): readonly Group[] {
  const groups: { removed: DiffLine[]; added: DiffLine[]; same: DiffLine[] }[] = [];
  let now: { removed: DiffLine[]; added: DiffLine[]; same: DiffLine[] } | null = null;
  for (const line of lines) {
    const starts: boolean =
      now === null ||
      (line.kind !== "same" && now.same.length > 0) ||
      (line.kind === "removed" && now.added.length > 0);
    if (starts || now === null) {
      now = { removed: [], added: [], same: [] };
      groups.push(now);
    }
    now[line.kind].push(line);
  }
  return groups;
}

function wordsMarked(group: Group, until: number): readonly DiffLine[] {
  const { removed, added, same } = group;
  const paired = Math.min(removed.length, added.length);
  if (paired === 0 || paired > MOST_PAIRED) return [...removed, ...added, ...same];
  const pairs = removed.slice(0, paired).map((line, at) => wordPair(line, added[at] as DiffLine, until));
  return [
    ...pairs.map(([left]) => left),
    ...removed.slice(paired),
    ...pairs.map(([, right]) => right),
    ...added.slice(paired),
    ...same,
  ];
}

function wordPair(left: DiffLine, right: DiffLine, until: number): readonly [DiffLine, DiffLine] {
  const timeout = until - performance.now();
  if (timeout <= 0) return [left, right];
  const [before, after] = [lineText(left), lineText(right)];
  if (before.length > LONGEST_LINE || after.length > LONGEST_LINE) return [left, right];
  const parts = diffWordsWithSpace(before, after, { timeout });
  if (!parts) return [left, right];
  const unchanged = parts.filter((part) => !part.added && !part.removed);
  const alike = unchanged.reduce((sum, part) => sum + part.value.trim().length, 0);
  if (alike < LEAST_ALIKE * Math.min(before.trim().length, after.trim().length)) return [left, right];
  const pieces = (skip: "added" | "removed"): readonly Piece[] =>
    parts
      .filter((part) => !part[skip])
      .map((part) => ({ text: part.value, changed: part.added || part.removed }));
  return [
    { ...left, pieces: pieces("added") },
    { ...right, pieces: pieces("removed") },
  ];
}
