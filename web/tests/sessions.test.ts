import { expect, test } from "vitest";
import { folders, isForeign } from "../src/core/sessions.ts";
import { isAlive, isElsewhere, shownStatus, statusOf } from "../src/core/status.ts";
import type { SessionRow } from "../src/protocol/lobby.ts";
import type { Status } from "../src/protocol/transcript.ts";
import { actionsFor } from "../src/view/sessions/session_actions.ts";

const row = (part: Partial<SessionRow>, state = ""): SessionRow => ({
  id: "s", title: "", cwd: "/ship", cli_session_id: "c", status: { state, since: 0, last_event: 0, waiting: 0, background: 0, detail: null },
  live: false, model: null, mode: null, effort: null, cost_usd: 0, created: 0, last_activity: 0, pinned: false, archived: false,
  parent: null, items: 0, pending: 0, source: "cli", agent: null, draft: "", ...part,
}); // prettier-ignore

const ended: Status = { state: "ended", since: 3, last_event: 4, tool: null, background: 0, waiting: 0, detail: null, returncode: null };
const names = (one: SessionRow) => actionsFor(one).map((action) => action.value);

test("a session that another program writes says so, whatever its records end with", () => {
  const used = row({ cli_session_id: "s", live: true }, "elsewhere");
  const status = statusOf(ended, used);
  expect(shownStatus(status)).toEqual({ label: "In use elsewhere", tone: "run", busy: false });
  expect([isElsewhere(status), isAlive(status.state), status.last_event]).toEqual([true, false, 4]);
  expect(statusOf(ended, row({ cli_session_id: "s" }))).toBe(ended);
  expect(statusOf(ended, null)).toBe(ended);
});

test("nothing is offered for a session that would be refused", () => {
  expect(names(row({ cli_session_id: "s", live: true }, "elsewhere"))).toEqual(["fork"]);
  expect(names(row({ cli_session_id: "s" }))).toEqual(["resume", "fork"]);
  expect(names(row({ live: true }))).toContain("stop");
});

test("a session of the CLI that went on here is no longer only a file", () => {
  expect([isForeign(row({ cli_session_id: "s" })), isForeign(row({})), isForeign(row({ source: "fairlead" }))]).toEqual([true, false, false]);
});

test("a folder where sessions ran here is proposed before one that only the CLI worked in", () => {
  const own = [row({ cwd: "/old", last_activity: 1 }), row({ cwd: "/new", last_activity: 2 })];
  expect(folders([...own, row({ id: "c", cwd: "/theirs", last_activity: 9 })])).toEqual(["/new", "/old", "/theirs"]);
});
