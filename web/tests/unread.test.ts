import { expect, test } from "vitest";
import { boardOf } from "../src/core/sessions/board.ts";
import { inGroups, sameAs } from "../src/core/sessions/inbox_groups.ts";
import { finishedAt, hasFailed, isUnread, readSeen, unreadOf, withSeen } from "../src/core/sessions/unread.ts";
import type { InboxRow, SessionRow } from "../src/protocol/lobby.ts";

const row = (part: Partial<SessionRow>, state = "idle"): SessionRow =>
  ({ id: "s", cwd: "/", status: { state, background: 0 }, live: true, last_activity: 50, archived: false, pending: 0, items: 3, source: "fairlead", finished: 40, outcome: "success", ...part }) as SessionRow;
const marks = { since: 10, sessions: {} };

test("a session that ended a turn since the user looked is unread", () => {
  expect(isUnread(row({}), marks)).toBe(true);
  expect(isUnread(row({}), { since: 10, sessions: { s: 40 } })).toBe(false);
  expect(isUnread(row({}), { since: 41, sessions: {} })).toBe(false);
  expect(isUnread(row({ archived: true }), marks)).toBe(false);
});

test("a session that works or waits for the user has not finished", () => {
  expect(finishedAt(row({ finished: null }, "thinking"))).toBeNull();
  expect(finishedAt(row({ pending: 1 }))).toBeNull();
  expect(finishedAt(row({ source: "cli", finished: null, live: false }))).toBeNull();
});

test("after a restart of the server its last activity counts", () => {
  expect(finishedAt(row({ finished: null, live: false }, "stopped"))).toBe(50);
});

test.each([
  ["success", "idle", false],
  ["interrupted", "idle", false],
  ["host_stopped", "ended", false],
  ["api_error", "error", true],
  ["max_turns", "idle", true],
  [null, "disconnected", true],
])("a turn that ended as %s in state %s: failed %s", (outcome, state, failed) => {
  expect(hasFailed(row({ outcome }, state))).toBe(failed);
});

test("marks outlive the page, and are dropped with their session", () => {
  const seen = withSeen({ since: 10, sessions: { gone: 5 } }, [row({})], [row({})]);
  expect(seen).toEqual({ since: 10, sessions: { s: 40 } });
  expect(readSeen(JSON.stringify(seen), 99)).toEqual(seen);
  expect(readSeen("nonsense", 99)).toEqual({ since: 99, sessions: {} });
  expect(readSeen(null, 99)).toEqual({ since: 99, sessions: {} });
  expect(unreadOf([row({ id: "a", finished: 20 }), row({ id: "b", finished: 30 })], marks).map((one) => one.id)).toEqual(["b", "a"]);
});

test("the board has each session once, in the column of what it needs", () => {
  const rows = [
    row({ id: "asks", pending: 1 }, "awaiting_approval"),
    row({ id: "works", finished: null }, "thinking"),
    row({ id: "behind", status: { state: "idle", background: 1 } as SessionRow["status"] }),
    row({ id: "done" }),
    row({ id: "old", finished: -100_000 }),
    row({ id: "away", archived: true }),
  ];
  const columns = boardOf(rows, { since: 10, sessions: {} }, 60);
  expect(columns.map((column) => column.sessions.map((one) => one.id))).toEqual([["asks"], ["works", "behind"], ["done"]]);
});

const ask = (id: string, at: number, group: string): InboxRow => ({ id, at, group }) as InboxRow;

test("requests that ask for the same stand together, by the oldest of them", () => {
  const rows = [ask("c", 3, "x"), ask("a", 1, "x"), ask("b", 2, ""), ask("d", 4, "")];
  expect(inGroups(rows).map((one) => one.id)).toEqual(["a", "c", "b", "d"]);
  expect(sameAs(rows[1] as InboxRow, rows).map((one) => one.id)).toEqual(["c"]);
  expect(sameAs(rows[2] as InboxRow, rows)).toEqual([]);
});
