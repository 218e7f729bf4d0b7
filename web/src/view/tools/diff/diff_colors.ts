/**
 * Colors for the lines of a change: each side is highlighted as a text of its own, then its runs
 * are laid over the pieces that mark what changed. Pure; the worker does the highlighting.
 */
import { lineText, type DiffLine, type Hunk, type Piece } from "./diff_model.ts";

/** A piece of a line and the class of its color, as the highlighter gives it. */
type Run = readonly [text: string, name: string];

/** A piece of a line with its color's class, and whether it is what changed. */
export interface Segment {
  readonly text: string;
  readonly name: string;
  readonly changed: boolean;
}

export interface Side {
  readonly text: string;
  /** The lines of this side, in order. */
  readonly lines: readonly DiffLine[];
}

/** The two texts of a change: without what is added, and without what is removed. */
export function sidesOf(hunks: readonly Hunk[]): { readonly before: Side; readonly after: Side } {
  const all = hunks.flatMap((hunk) => hunk.lines);
  const side = (lines: readonly DiffLine[]): Side => ({ text: lines.map(lineText).join("\n"), lines });
  return {
    before: side(all.filter((line) => line.kind !== "added")),
    after: side(all.filter((line) => line.kind !== "removed")),
  };
}

/** The runs of each line; empty if the highlighting does not match the text. */
export function runsByLine(side: Side, colored: readonly (readonly Run[])[] | null): ReadonlyMap<DiffLine, readonly Run[]> {
  const runs = new Map<DiffLine, readonly Run[]>();
  if (colored === null || colored.length < side.lines.length) return runs;
  side.lines.forEach((line, at) => runs.set(line, colored[at] ?? []));
  return runs;
}

/** The pieces of a line cut where its colors change. */
export function segments(pieces: readonly Piece[], runs: readonly Run[] | undefined): readonly Segment[] {
  if (!runs || runs.map(([text]) => text).join("") !== pieces.map((piece) => piece.text).join("")) {
    return pieces.map(({ text, changed }) => ({ text, name: "", changed }));
  }
  const out: Segment[] = [];
  const left = runs.map(([text, name]) => ({ text, name }));
  let at = 0;
  for (const piece of pieces) {
    let rest = piece.text;
    while (rest !== "") {
      const run = left[at];
      if (!run) break;
      const count = Math.min(rest.length, run.text.length);
      out.push({ text: rest.slice(0, count), name: run.name, changed: piece.changed });
      rest = rest.slice(count);
      run.text = run.text.slice(count);
      if (run.text === "") at += 1;
    }
  }
  return out;
}
