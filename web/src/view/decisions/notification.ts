/**
 * What a notification of the system says, and when there is one. It never carries a button that
 * allows something: its few words cannot hold what would be allowed (T-18). Pure.
 */
import type { InboxRow } from "../../protocol/lobby.ts";

export interface Notice {
  readonly title: string;
  readonly body: string;
  /** The same for every tab, so that one request gives one notification. */
  readonly tag: string;
  /** Where a click leads. */
  readonly session: string;
}

/** Where somebody looks right now. */
export interface Gaze {
  /** Whether the window is in front and has the keyboard. */
  readonly here: boolean;
  readonly inbox: boolean;
  /** The session that is open, if one is. */
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

/** The notification for something that waits. */
export function noticeFor(row: InboxRow): Notice {
  const what = ASKS[row.kind] ?? `asks to use ${plain(row.title || row.tool_name, WHAT)}`;
  return {
    title: plain(row.session_title, TITLE) || "A session",
    body: `${what.charAt(0).toUpperCase()}${what.slice(1)}. Open it to see the whole and answer.`,
    tag: row.id,
    session: row.session,
  };
}

/** What is new since the last look; nothing on the first, because it waited before this page came. */
export function arrivals(before: ReadonlySet<string> | null, rows: readonly InboxRow[]): readonly InboxRow[] {
  return before === null ? [] : rows.filter((row) => !before.has(row.id));
}

/** Whether somebody already looks at what waits, and needs no signal. */
export function isSeen(row: InboxRow, gaze: Gaze): boolean {
  return gaze.here && (gaze.inbox || gaze.session === row.session);
}

/** A text of a model in one line of limited length, without what hides or turns it around. */
function plain(text: string, most: number): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]+/gu, " ").replace(/\s+/g, " ").trim();
  return [...line].length <= most ? line : `${[...line].slice(0, most - 1).join("")}…`;
}
