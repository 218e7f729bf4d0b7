/** The list of sessions: found by words, put into groups by what they do and when they did. Pure. */
import type { SessionRow } from "../protocol/lobby.ts";
import { shownStatus } from "./status.ts";

export interface SessionGroup {
  readonly name: string;
  readonly sessions: readonly SessionRow[];
}

const DAY = 86_400;

/** The groups in the order they are shown, none of them empty. `midnight` is that of today. */
export function grouped(
  sessions: readonly SessionRow[],
  words: string,
  midnight: number,
  archived = false,
): readonly SessionGroup[] {
  const groups = new Map<string, SessionRow[]>(
    ["Pinned", "Running", "Today", "Yesterday", "This week", "Earlier"].map((name) => [name, []]),
  );
  const own = new Set(sessions.filter((one) => one.source !== "cli").map((one) => one.cli_session_id));
  for (const session of sessions) {
    // The CLI's file of a session that runs here is no session of its own.
    if (session.source === "cli" && session.cli_session_id !== null && own.has(session.cli_session_id)) continue;
    if (session.archived !== archived || !matches(session, words)) continue;
    groups.get(groupOf(session, midnight))?.push(session);
  }
  const newest = (a: SessionRow, b: SessionRow) => b.last_activity - a.last_activity;
  return [...groups]
    .filter(([, rows]) => rows.length > 0)
    .map(([name, rows]) => ({ name, sessions: rows.sort(newest) }));
}

/** Whether all words are found in what is known of a session. */
export function matches(session: SessionRow, words: string): boolean {
  const text = `${session.title} ${session.cwd} ${session.model ?? ""} ${session.id}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** The name of a session, if it has none: of its folder. */
export function titleOf(session: SessionRow): string {
  return session.title || `Session in ${project(session.cwd)}`;
}

/** Whether it is only a file of the CLI, which the server reads and does not run. */
export function isForeign(session: SessionRow): boolean {
  return session.source === "cli" && session.id === session.cli_session_id;
}

/** The last part of a folder's path. */
export function project(cwd: string): string {
  return cwd.replace(/\/+$/, "").split("/").pop() || "/";
}

/** The folders that sessions work in, the newest first; those where only the CLI itself did come last. */
export function folders(sessions: readonly SessionRow[]): readonly string[] {
  const order = (a: SessionRow, b: SessionRow) => Number(isForeign(a)) - Number(isForeign(b)) || b.last_activity - a.last_activity;
  const newest = [...sessions].sort(order);
  return [...new Set(newest.map((session) => session.cwd).filter((cwd) => cwd !== ""))];
}

function groupOf(session: SessionRow, midnight: number): string {
  if (session.pinned) return "Pinned";
  const { busy, tone } = shownStatus(session.status);
  if (busy || session.pending > 0 || (session.live && tone === "run")) return "Running";
  if (session.last_activity >= midnight) return "Today";
  if (session.last_activity >= midnight - DAY) return "Yesterday";
  if (session.last_activity >= midnight - 6 * DAY) return "This week";
  return "Earlier";
}
