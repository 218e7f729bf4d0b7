/** Sessions that finished or failed since the user of this device last viewed them. Pure. */
import type { SessionRow } from "../../protocol/lobby.ts";
import { shownStatus } from "./status.ts";

/** When each session was last viewed on this device; `since` is when the device started to record it. */
export interface SeenMarks {
  readonly since: number;
  readonly sessions: Readonly<Record<string, number>>;
}

const FINE = new Set(["success", "interrupted", "unknown", "host_stopped"]);

/** The marks in a stored text; a device without any starts now, so that nothing old is unread. */
export function readSeen(text: string | null, now: number): SeenMarks {
  try {
    const value = JSON.parse(text ?? "") as Partial<SeenMarks> | null;
    if (typeof value?.since !== "number") return { since: now, sessions: {} };
    const known = Object.entries(value.sessions ?? {}).filter((pair) => typeof pair[1] === "number");
    return { since: value.since, sessions: Object.fromEntries(known) };
  } catch {
    return { since: now, sessions: {} };
  }
}

/** When the last turn of a session ended; null during a turn or while a request is open. */
export function finishedAt(row: SessionRow): number | null {
  if (row.pending > 0 || shownStatus(row.status).busy || row.source === "cli") return null;
  if (row.finished !== null) return row.finished;
  // The server has not loaded it, for example after a restart.
  return !row.live && row.items > 0 ? row.last_activity : null;
}

/** Whether the last turn failed. */
export function hasFailed(row: SessionRow): boolean {
  if (["error", "disconnected"].includes(row.status.state)) return true;
  return row.outcome !== null && !FINE.has(row.outcome);
}

export function isUnread(row: SessionRow, marks: SeenMarks): boolean {
  const at = finishedAt(row);
  return !row.archived && at !== null && at > Math.max(marks.since, marks.sessions[row.id] ?? 0);
}

/** The unread sessions, the newest first. */
export function unreadOf(rows: readonly SessionRow[], marks: SeenMarks): readonly SessionRow[] {
  return rows.filter((row) => isUnread(row, marks)).sort((a, b) => (finishedAt(b) ?? 0) - (finishedAt(a) ?? 0));
}

/** The marks after sessions were viewed; those of sessions that no longer exist are removed. */
export function withSeen(marks: SeenMarks, seen: readonly SessionRow[], all: readonly SessionRow[]): SeenMarks {
  const exists = new Set(all.map((row) => row.id));
  const existing = Object.entries(marks.sessions).filter(([id]) => exists.has(id));
  const fresh = seen.map((row) => [row.id, finishedAt(row) ?? row.last_activity] as const);
  return { since: marks.since, sessions: Object.fromEntries([...existing, ...fresh]) };
}
