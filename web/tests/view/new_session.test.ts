import { describe, expect, test } from "vitest";
import type { SessionRow } from "../../src/protocol/lobby.ts";
import { ancestors, family } from "../../src/view/sessions/lineage.ts";
import { newSessionIntent, rulesIn, serversIn, type NewSessionForm } from "../../src/view/sessions/new_session.ts";

const form: NewSessionForm = {
  cwd: " /p ", prompt: "", verbatim: false, title: "", model: "", mode: "", effort: "", profile: "", turns: null, budget: null, latest: false, denied: "", allowed: "", servers: "", folders: "", plugins: "",
}; // prettier-ignore

describe("the intent for a new session", () => {
  test("leaves empty fields to the server", () => {
    const outcome = newSessionIntent(form);
    expect(outcome).toMatchObject({ intent: { cwd: "/p", prompt: null, title: null, model: null, mode: null, effort: null, allowed_tools: [], mcp_servers: {} } });
  });

  test("contains every field that is filled in", () => {
    const limited = { ...form, prompt: " go\n", model: " opus ", turns: 3, budget: 0.5, latest: true, denied: "WebFetch", folders: "/a b\n\n /c ", plugins: "/p", verbatim: true, servers: '{"a": {"command": "x"}}' };
    expect(newSessionIntent(limited)).toMatchObject({
      intent: { prompt: " go\n", model: "opus", max_turns: 3, max_budget_usd: 0.5, continue_latest: true, disallowed_tools: ["WebFetch"], add_dirs: ["/a b", "/c"], plugin_dirs: ["/p"], verbatim: true, mcp_servers: { a: { command: "x" } } },
    });
  });

  test("needs a folder, and servers that can be read", () => {
    expect(newSessionIntent({ ...form, cwd: " " })).toHaveProperty("problem");
    expect(newSessionIntent({ ...form, servers: "{" })).toHaveProperty("problem");
  });
});

test.each([
  ["Read, Bash(git log:*, -n 1)\nWebFetch(domain:a.b)", ["Read", "Bash(git log:*, -n 1)", "WebFetch(domain:a.b)"]],
  ["Read,,Read\n \n", ["Read"]],
  ["Bash(open\nRead", ["Bash(open", "Read"]],
  ["", []],
])("the rules in %j", (text, rules) => {
  expect(rulesIn(text)).toEqual(rules);
});

test.each([
  ['{"mcpServers": {"a": {"url": "https://x.test"}}}', { a: { url: "https://x.test" } }],
  ['{"a": {"command": "x", "env": {"K": "v"}}}', { a: { command: "x", env: { K: "v" } } }],
  ["  ", {}],
])("the servers in %s", (text, servers) => {
  expect(serversIn(text)).toEqual(servers);
});

test.each(["[]", "{}", '{"a": {}}', '{"a": 7}', "nonsense", '{"mcpServers": {}}'])("%s are no servers", (text) => {
  expect(typeof serversIn(text)).toBe("string");
});

describe("forks", () => {
  const row = (id: string, parent: string | null, created: number) => ({ id, parent, created }) as unknown as SessionRow;
  const rows = [row("a", null, 1), row("b", "a", 3), row("c", "b", 4), row("d", "a", 2), row("alone", null, 5), row("orphan", "gone", 6)];

  test("stand below what they were forked from, the oldest first", () => {
    expect(family(rows, "c").map(({ session, depth }) => [session.id, depth])).toEqual([["a", 0], ["d", 1], ["b", 1], ["c", 2]]);
    expect(ancestors(rows, "c").map((one) => one.id)).toEqual(["a", "b"]);
  });

  test("a session without any has no family", () => {
    expect(family(rows, "alone")).toEqual([]);
    expect(family(rows, "orphan")).toEqual([]);
    expect(family(rows, "nobody")).toEqual([]);
  });

  test("a circle is walked once", () => {
    const circle = [row("x", "y", 1), row("y", "x", 2)];
    expect(ancestors(circle, "x").map((one) => one.id)).toEqual(["y"]);
    expect(family(circle, "x")).toHaveLength(2);
  });
});
