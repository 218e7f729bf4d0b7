/**
 * The text of a desktop notification, and when one is shown. It never has a button that allows a
 * call, because its short text cannot show the whole call (T-18). Pure.
 */
import type { InboxRow } from "../../../protocol/lobby.ts";

export interface Notice {
  readonly title: string;
  readonly body: string;
  /** The same in every tab, so that a request has only one notification. */
  readonly tag: string;
  /** Where a click leads. */
  readonly session: string;
}

/** What the user looks at. */
export interface Gaze {
  /** Whether the window is in front and has the focus. */
  readonly here: boolean;
  readonly inbox: boolean;
  /** The open session, if any. */
  readonly session: string | null;
}

const TITLE = 60;
const WHAT = 80;

const ASKS: Readonly<Record<string, string>> = {
  question: "asks a question",
  plan: "has a plan to approve",
  elicitation: "asks to fill in a form",
  dialog: "shows a dialog",
};

/** The notification for an open request. */
export function noticeFor(row: InboxRow): Notice {
  const what = ASKS[row.kind] ?? `asks to use ${plain(row.title || row.tool_name, WHAT)}`;
  return {
    title: plain(row.session_title, TITLE) || "A session",
    body: `${what.charAt(0).toUpperCase()}${what.slice(1)}. Open it to see the full request and answer.`,
    tag: row.id,
    session: row.session,
  };
}

/** The requests that are new since the last call; none at the first call, because they were open before the page was. */
export function arrivals(before: ReadonlySet<string> | null, rows: readonly InboxRow[]): readonly InboxRow[] {
  return before === null ? [] : rows.filter((row) => !before.has(row.id));
}

/** The tags of pushed notifications of sessions that have no open request any more. */
export function answeredSessions(over: ReadonlySet<string>, rows: readonly InboxRow[]): readonly string[] {
  const waiting = new Set(rows.map((row) => row.session));
  const sessions = [...over].map((id) => id.slice(0, id.indexOf(":")));
  return sessions.filter((session) => !waiting.has(session)).map((session) => `session:${session}`);
}

/** Whether the user already sees the request and needs no signal. */
export function isSeen(row: InboxRow, gaze: Gaze): boolean {
  return gaze.here && (gaze.inbox || gaze.session === row.session);
}

/** A text of the model on one line of limited length, without hidden and direction-changing characters. */
function plain(text: string, most: number): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]+/gu, " ").replace(/\s+/g, " ").trim();
  return [...line].length <= most ? line : `${[...line].slice(0, most - 1).join("")}…`;
}
