/** Review comments: what the server answers, their order and their states. Pure. */

export interface ReviewComment {
  readonly id: string;
  readonly version: number;
  readonly author: string;
  /** Whether this device wrote it. */
  readonly own: boolean;
  /** Whether it must be taken over before it is sent: its author has a lower role or was removed. */
  readonly foreign: boolean;
  readonly path: string;
  /** The file's id in the list of changes, and in the list of files. */
  readonly changed_file: string | null;
  readonly file: string | null;
  readonly side: Side;
  readonly start: number;
  readonly end: number;
  readonly code: string;
  readonly text: string;
  readonly created: number;
  /** The prompt that it was sent with; null for a draft. */
  readonly prompt: string | null;
  readonly resolved: boolean;
  readonly lines: "same" | "changed" | "deleted" | "unknown";
  /** The number of its first line now. */
  readonly now: number | null;
}

export type Side = "new" | "old";

/** Lines of one file that a comment is about. */
export interface LineRange {
  readonly side: Side;
  readonly start: number;
  readonly end: number;
}

/** Comments in the order of their files and lines, as they are listed and sent. */
export function inOrder(comments: readonly ReviewComment[]): readonly ReviewComment[] {
  return [...comments].sort(
    (first, second) => compared(first.path, second.path) || first.start - second.start || first.end - second.end || first.created - second.created,
  );
}

/** The comments that a review would send. */
export function draftsOf(comments: readonly ReviewComment[]): readonly ReviewComment[] {
  return inOrder(comments.filter((comment) => comment.prompt === null && !comment.resolved));
}

/** The line under which a comment is drawn: its last one, where it is now. */
export function drawnUnder(comment: ReviewComment): number {
  return comment.side === "new" && comment.now !== null ? comment.now + comment.end - comment.start : comment.end;
}

/** What a comment's state is called; `busy` while the agent works on the review. */
export function stateOf(comment: ReviewComment, busy: boolean): { readonly label: string; readonly tone: "plain" | "ok" | "wait" } {
  if (comment.resolved) return { label: "Resolved", tone: "plain" };
  if (comment.prompt === null) return { label: comment.lines === "changed" ? "Draft, lines changed since" : "Draft", tone: "plain" };
  if (comment.lines === "changed") return { label: "Lines changed", tone: "ok" };
  if (comment.lines === "deleted") return { label: "File deleted", tone: "ok" };
  if (busy) return { label: "Sent", tone: "plain" };
  return { label: comment.lines === "same" ? "Lines not changed" : "Sent", tone: comment.lines === "same" ? "wait" : "plain" };
}

/** `line 3`, `lines 3–5`. */
export function rangeName(range: LineRange): string {
  const old = range.side === "old" ? " (before)" : "";
  return (range.start === range.end ? `line ${range.start}` : `lines ${range.start}–${range.end}`) + old;
}

function compared(first: string, second: string): number {
  return first === second ? 0 : first < second ? -1 : 1;
}
