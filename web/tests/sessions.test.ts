import { expect, test } from "vitest";
import { arranged, folders, hiddenRequests, isForeign, matches, project, unlistedRequests } from "../src/core/sessions/sessions.ts";
import { isAlive, isElsewhere, shownStatus, statusOf } from "../src/core/sessions/status.ts";
import type { SessionRow } from "../src/protocol/lobby.ts";
import type { Status } from "../src/protocol/transcript.ts";
import { actionsFor } from "../src/view/sessions/session_actions.ts";

const row = (part: Partial<SessionRow>, state = ""): SessionRow => ({
  id: "s", title: "", cwd: "/ship", cli_session_id: "c", status: { state, since: 0, last_event: 0, waiting: 0, background: 0, detail: null },
  live: false, profile: "", node: "", generation: 0, moved: null, model: null, mode: null, effort: null, cost_usd: 0, created: 0, last_activity: 0, pinned: false, archived: false,
  parent: null, items: 0, pending: 0, source: "cli", agent: null, drafts: [], workbench_at: 0, resume_problem: null, branch: null, finished: null, outcome: null, last_sentence: "", tasks: null, lines_added: 0, lines_removed: 0, tags: [], worktree: null, deleting: null, limit: null, continue_at_reset: null, ...part,
}); // prettier-ignore

const ended: Status = { state: "ended", since: 3, last_event: 4, tool: null, background: 0, waiting: 0, detail: null, returncode: null };
const names = (one: SessionRow) => actionsFor(one, "owner").map((action) => action.value);

test("a session that another program writes says so, whatever its records end with", () => {
  const used = row({ cli_session_id: "s", live: true }, "elsewhere");
  const status = statusOf(ended, used);
  expect(shownStatus(status)).toEqual({ label: "In use elsewhere", tone: "run", busy: false });
  expect([isElsewhere(status), isAlive(status.state), status.last_event]).toEqual([true, false, 4]);
  expect(statusOf(ended, row({ cli_session_id: "s" }))).toBe(ended);
  expect(statusOf(ended, null)).toBe(ended);
});

test("nothing is offered for a session that would be refused", () => {
  expect(names(row({ cli_session_id: "s", live: true }, "elsewhere"))).toEqual(["fork", "export"]);
  expect(names(row({ cli_session_id: "s" }))).toEqual(["resume", "fork", "export", "delete"]);
  expect(names(row({ source: "recording" }))).toEqual(["rename", "pin", "tags", "export", "archive", "delete"]);
  expect(actionsFor(row({ source: "fairlead" }), "operator").map((action) => action.value)).not.toContain("delete");
  expect(names(row({ live: true }))).toContain("stop");
});

test("a session of the CLI that went on here is no longer only a file", () => {
  expect([isForeign(row({ cli_session_id: "s" })), isForeign(row({})), isForeign(row({ source: "fairlead" }))]).toEqual([true, false, false]);
});

const worktree = { repository: "/shop", path: "/shop/.claude/worktrees/fix", branch: "fairlead/fix", base: "main", state: "open", setup: "", setup_output: "" };

test("U104 sessions are grouped by folder or by tag, pinned ones first, and filtered by tag", () => {
  const rows = [
    row({ id: "a", source: "fairlead", cwd: "/shop", last_activity: 1, tags: ["api"] }),
    row({ id: "b", source: "fairlead", cwd: "/blog", last_activity: 3, tags: ["api", "docs"] }),
    row({ id: "c", source: "fairlead", cwd: "/shop", last_activity: 2, pinned: true }),
    row({ id: "d", source: "recording", cwd: "", last_activity: 0 }),
    row({ id: "e", source: "fairlead", cwd: "/shop/.claude/worktrees/fix", last_activity: 0.5, tags: ["api"], worktree }),
  ];
  const of = (by: "project" | "tag") => arranged(rows, by, 0).map((group) => [group.name, group.sessions.map((each) => each.id)]);
  expect(of("project")).toEqual([["Pinned", ["c"]], ["/blog", ["b"]], ["/shop", ["a", "e"]], ["Recordings", ["d"]]]);
  expect(of("tag")).toEqual([["api", ["b", "a", "e"]], ["docs", ["b"]], ["Without a tag", ["c", "d"]]]);
  expect(rows.filter((each) => matches(each, "#DOCS")).map((each) => each.id)).toEqual(["b"]);
});

test("a folder where sessions ran here is proposed before one that only the CLI worked in", () => {
  const own = [row({ cwd: "/old", last_activity: 1 }), row({ cwd: "/new", last_activity: 2 })];
  expect(folders([...own, row({ id: "c", cwd: "/theirs", last_activity: 9 })])).toEqual(["/new", "/old", "/theirs"]);
  // A worktree may be gone; a new session begins in its repository.
  expect(folders([row({ cwd: "/shop/.claude/worktrees/fix", worktree })])).toEqual(["/shop"]);
});

test("requests that the server does not list are counted", () => {
  expect(unlistedRequests([row({ pending: 2_000 }), row({ id: "t" })], 100)).toBe(1_900);
  expect(unlistedRequests([row({ pending: 100 })], 100)).toBe(0);
  expect(unlistedRequests([row({ pending: 99 })], 100)).toBe(0);
});

test("requests that are not in the document of a session are counted only where the list is full", () => {
  expect(hiddenRequests(2_000, 100)).toBe(1_900);
  expect(hiddenRequests(100, 100)).toBe(0);
  expect(hiddenRequests(99, 100)).toBe(0);
  expect(hiddenRequests(3, 2)).toBe(0);
});

test("a session that cannot be resumed does not offer it, and one that works cannot be archived", () => {
  const own = { source: "fairlead", cli_session_id: "c" };
  expect(names(row(own, "stopped"))).toContain("resume");
  expect(names(row({ ...own, resume_problem: "Its file was deleted." }, "stopped"))).not.toContain("resume");
  expect(names(row({ ...own, live: true }, "idle"))).toContain("archive");
  expect(names(row({ ...own, live: true }, "thinking"))).not.toContain("archive");
  expect(names(row({ ...own, live: true, pending: 1 }, "awaiting_approval"))).not.toContain("archive");
});

test("a recording has no folder, and the root is one", () => {
  expect([project(""), project("/"), project("/home/me/ship/")]).toEqual(["", "/", "ship"]);
});
