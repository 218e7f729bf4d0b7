/** Usage limits of the account, in words: how much of a window is used, and when it resets. Pure. */
import type { LimitRow, ListedLimit } from "../../protocol/lobby.ts";

const NAMES: Readonly<Record<string, string>> = {
  five_hour: "5-hour limit",
  seven_day: "Weekly limit",
  seven_day_opus: "Weekly limit (opus)",
  seven_day_sonnet: "Weekly limit (sonnet)",
  overage: "Extra usage limit",
};

const SHORT: Readonly<Record<string, string>> = { five_hour: "5 h", seven_day: "Week" };

/** The used parts of a window from which the app warns. */
export const WARN_AT = [0.8, 0.95] as const;

export type Level = "fine" | "warn" | "bad";

export function limitName(kind: string): string {
  return NAMES[kind] ?? `Usage limit${kind && kind !== "limit" ? ` (${kind.replaceAll("_", " ")})` : ""}`;
}

export function shortName(kind: string): string {
  return SHORT[kind] ?? limitName(kind);
}

export function levelOf(used: number | null): Level {
  if (used === null || used < WARN_AT[0]) return "fine";
  return used < WARN_AT[1] ? "warn" : "bad";
}

export function percent(used: number): string {
  return `${Math.round(used * 100)} %`;
}

/** `14:30`, or `Mon 09:00` if it is not today. */
export function resetTime(at: number, now: number): string {
  const [then, today] = [new Date(at * 1000), new Date(now * 1000)];
  const time = then.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return then.toDateString() === today.toDateString() ? time : `${then.toLocaleDateString([], { weekday: "short" })} ${time}`;
}

/** The windows of an account that have not reset yet. */
export function windowsOf(limits: readonly LimitRow[], account: string, now: number): readonly LimitRow[] {
  return limits.filter((row) => row.account === account && (row.resets_at === null || row.resets_at > now));
}

/** The window that is used most, if its use is known. */
export function fullest(windows: readonly LimitRow[]): LimitRow | null {
  const known = windows.filter((row) => row.utilization !== null);
  return known.reduce<LimitRow | null>((most, row) => (most === null || (row.utilization ?? 0) > (most.utilization ?? 0) ? row : most), null);
}

/** The warning for a window that passed a threshold between two reports; empty if it passed none. */
export function passed(before: LimitRow | undefined, after: LimitRow, now: number): string {
  const used = after.utilization;
  if (used === null) return "";
  const same = before !== undefined && before.resets_at === after.resets_at;
  const threshold = WARN_AT.findLast((at) => used >= at && (!same || (before.utilization ?? 0) < at));
  if (threshold === undefined) return "";
  const resets = after.resets_at === null ? "" : `, resets ${resetTime(after.resets_at, now)}`;
  return `${limitName(after.kind)}: ${percent(used)} used${resets}.`;
}

/** What stops a session, and what happens next. */
export function stopWords(limit: ListedLimit, now: number): string {
  const resets = limit.resets_at === null ? "" : ` It resets ${resetTime(limit.resets_at, now)}.`;
  const next = limit.continues_at === null ? "" : ` This session continues ${resetTime(limit.continues_at, now)}.`;
  return `${limitName(limit.kind)} reached.${next || resets}`;
}
