/** The list of sessions: filtered by words, and grouped by state and time. Pure. */
import type { SessionRow } from "../../protocol/lobby.ts";
import { REQUESTS_LISTED } from "../../protocol/pending.ts";
import { shownStatus } from "./status.ts";

export interface SessionGroup {
  readonly name: string;
  readonly sessions: readonly SessionRow[];
}

/** How the list is divided: by state and time, by folder, or by tag. */
export type Grouping = "time" | "project" | "tag";

const DAY = 86_400;
const TIMES = ["Pinned", "Running", "Today", "Yesterday", "This week", "Earlier"];

/** The groups in their order, without empty ones. `midnight` is that of today. */
export function grouped(
  sessions: readonly SessionRow[],
  words: string,
  midnight: number,
  archived = false,
  by: Grouping = "time",
): readonly SessionGroup[] {
  const wanted = listed(sessions).filter((session) => session.archived === archived && matches(session, words));
  return arranged(wanted, by, midnight);
}

/** Sessions in groups, the newest first; projects and tags follow their newest session. */
export function arranged(sessions: readonly SessionRow[], by: Grouping, midnight: number): readonly SessionGroup[] {
  const groups = new Map<string, SessionRow[]>((by === "time" ? TIMES : ["Pinned"]).map((name) => [name, []]));
  for (const session of [...sessions].sort((a, b) => b.last_activity - a.last_activity)) {
    for (const name of groupsOf(session, by, midnight)) {
      const group = groups.get(name);
      if (group) group.push(session);
      else groups.set(name, [session]);
    }
  }
  return [...groups].filter(([, rows]) => rows.length > 0).map(([name, rows]) => ({ name, sessions: rows }));
}

/** Without the CLI's files of sessions that run here: they are not separate sessions. */
export function listed(sessions: readonly SessionRow[]): readonly SessionRow[] {
  const own = new Set(sessions.filter((session) => session.source !== "cli").map((session) => session.cli_session_id));
  return sessions.filter((session) => session.source !== "cli" || session.cli_session_id === null || !own.has(session.cli_session_id));
}

function groupsOf(session: SessionRow, by: Grouping, midnight: number): readonly string[] {
  if (by === "tag") return session.tags.length > 0 ? session.tags : ["Without a tag"];
  if (by === "time") return [groupOf(session, midnight)];
  if (session.pinned) return ["Pinned"];
  if (session.source === "recording") return ["Recordings"];
  return [projectFolder(session) || "Unknown folder"];
}

/** Whether the values of a session contain all words. */
export function matches(session: SessionRow, words: string): boolean {
  const tags = session.tags.map((tag) => `#${tag}`).join(" ");
  const text = `${session.title} ${session.cwd} ${session.model ?? ""} ${session.id} ${tags}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** The title of a session, or a name made from its folder. */
export function titleOf(session: SessionRow): string {
  return session.title || (isRecording(session) ? "Recording" : `Session in ${project(session.cwd)}`);
}

/** Whether the session is only a file of the CLI, which the server reads and does not run. */
export function isForeign(session: SessionRow): boolean {
  return session.source === "cli" && session.id === session.cli_session_id;
}

/** Whether the session is an imported recording, which can only be read. */
export function isRecording(session: SessionRow): boolean {
  return session.source === "recording";
}

/** The tags of all sessions, in alphabetical order. */
export function tagsOf(sessions: readonly SessionRow[]): readonly string[] {
  return [...new Set(sessions.flatMap((session) => session.tags))].sort((a, b) => a.localeCompare(b));
}

/** The last part of a folder's path; empty for a recording, which has no folder. */
export function project(cwd: string): string {
  return cwd === "" ? "" : (cwd.split("/").findLast((part) => part !== "") ?? "/");
}

/** The folder of the project that a session works on: a worktree belongs to its repository. */
export function projectFolder(session: Pick<SessionRow, "cwd" | "worktree">): string {
  return session.worktree?.repository || session.cwd;
}

/** The folders of sessions, the newest first; those that only the CLI used come last. */
export function folders(sessions: readonly SessionRow[]): readonly string[] {
  const order = (a: SessionRow, b: SessionRow) => Number(isForeign(a)) - Number(isForeign(b)) || b.last_activity - a.last_activity;
  const newest = [...sessions].sort(order);
  return [...new Set(newest.map(projectFolder).filter((cwd) => cwd !== ""))];
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

/**
 * How many open requests of a session its document does not hold: the server sends the oldest. The
 * lobby may be a moment behind the document, so a short list is always taken as complete.
 */
export function hiddenRequests(open: number, shown: number): number {
  return shown < REQUESTS_LISTED ? 0 : Math.max(0, open - shown);
}

/** How many open requests of these sessions are not listed in the inbox. */
export function unlistedRequests(sessions: readonly SessionRow[], listed: number): number {
  const open = sessions.reduce((sum, session) => sum + session.pending, 0);
  return Math.max(0, open - listed);
}
