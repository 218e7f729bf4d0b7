import { expect, test } from "vitest";
import type { SessionRow } from "../src/protocol/lobby.ts";
import { bySession, readQuestion, searchPath, writeQuestion, type Hit } from "../src/core/sessions/findings.ts";

const hit = (session: string, item: string, part: Partial<Hit> = {}): Hit => ({
  session, item, kind: "answer", at: 5, project: "/ship", snippet: [], ...part,
});

const session = (id: string, part: Partial<SessionRow> = {}): SessionRow => ({
  id, title: `Title of ${id}`, cwd: "/ship", cli_session_id: null, status: { state: "", since: 0, last_event: 0, waiting: 0, background: 0, detail: null },
  live: false, profile: "", node: "", generation: 0, moved: null, model: null, mode: null, effort: null,
  cost_usd: 0, created: 0, last_activity: 0, pinned: false, archived: false, parent: null, items: 0, pending: 0, source: "fairlead",
  agent: null, drafts: [], workbench_at: 0, resume_problem: null, branch: null, finished: null, outcome: null, last_sentence: "", tasks: null, lines_added: 0, lines_removed: 0, tags: [], worktree: null, deleting: null, limit: null, continue_at_reset: null, ...part,
});

test("hits stand by session, in the order of the first of each", () => {
  const found = bySession([hit("b", "1"), hit("a", "2"), hit("b", "3")], [session("a"), session("b")]);
  expect(found.map((one) => [one.id, one.hits.map((each) => each.item)])).toEqual([["b", ["1", "3"]], ["a", ["2"]]]);
});

test("what was found in the CLI's own file belongs to the session that it became", () => {
  const found = bySession([hit("cli-1", "1"), hit("own", "1"), hit("own", "2")], [session("own", { cli_session_id: "cli-1" })]);
  expect(found.map((one) => [one.id, one.hits.length])).toEqual([["own", 2]]);
});

test("a session that is listed nowhere is still shown", () => {
  const [found] = bySession([hit("gone", "1")], []);
  expect(found).toMatchObject({ id: "gone", row: null, project: "/ship" });
});

test("a question survives its address", () => {
  const asked = { words: 'say "hello world"', kind: "error", project: "/my ship", model: "", days: "7", order: "newest" };
  expect(readQuestion(writeQuestion(asked))).toEqual(asked);
});

test("what is asked of the server has its filters and nothing that is empty", () => {
  const path = searchPath({ words: "a b", kind: "", project: "", model: "opus", days: "1", order: "" }, 100_000, 0, 60);
  expect(path).toBe("/api/search?q=a%20b&model=opus&after=13600&limit=60");
});
