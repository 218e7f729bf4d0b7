/** The board: current sessions by what they need. Pure. */
import type { SessionRow } from "../../protocol/lobby.ts";
import { shownStatus } from "./status.ts";
import { finishedAt, isUnread, type SeenMarks } from "./unread.ts";

export interface BoardColumn {
  readonly name: "needs" | "running" | "done";
  readonly title: string;
  /** The text of an empty column. */
  readonly empty: string;
  readonly sessions: readonly SessionRow[];
}

const DAY_S = 86_400;
const MOST = 40;

/** Sessions that finished more than a day ago are on the board only while they are unread. */
export function boardOf(rows: readonly SessionRow[], marks: SeenMarks, now: number): readonly BoardColumn[] {
  const current = rows.filter((row) => !row.archived);
  const needs = current.filter((row) => row.pending > 0);
  const running = current.filter((row) => row.pending === 0 && isRunning(row));
  const done = current.filter((row) => row.pending === 0 && !isRunning(row) && isRecent(row, marks, now));
  const newest = (a: SessionRow, b: SessionRow): number => b.last_activity - a.last_activity;
  const unreadFirst = (a: SessionRow, b: SessionRow): number => Number(isUnread(b, marks)) - Number(isUnread(a, marks)) || newest(a, b);
  return [
    { name: "needs", title: "Needs you", empty: "Nothing needs you.", sessions: needs.sort((a, b) => a.last_activity - b.last_activity) },
    { name: "running", title: "Running", empty: "Nothing is running.", sessions: running.sort(newest) },
    { name: "done", title: "Done", empty: "Nothing finished in the last day.", sessions: done.sort(unreadFirst).slice(0, MOST) },
  ];
}

function isRunning(row: SessionRow): boolean {
  const { busy, tone } = shownStatus(row.status);
  return busy || (row.live && tone === "run");
}

function isRecent(row: SessionRow, marks: SeenMarks, now: number): boolean {
  const at = finishedAt(row);
  return at !== null && (now - at < DAY_S || isUnread(row, marks));
}
