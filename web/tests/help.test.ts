import { expect, test } from "vitest";
import { helpOf } from "../src/core/settings/help.ts";
import type { Session } from "../src/protocol/transcript.ts";
import snapshot from "../../tests/golden/transcript/empty.snapshot.json" with { type: "json" };

const empty = snapshot.session as unknown as Session;
const told = {
  ...empty,
  version: "2.1.325",
  tools: ["Bash", "Read", "mcp__github__search_code", "mcp__other__search_code"],
  commands: [{ name: "compact", description: "Make room", hint: "[words]" }, { name: "_hidden", description: "" }],
  agents: ["Explore"],
  skills: ["release"],
  plugins: [{ name: "linter", path: "/p" }, "plain"],
  mcp_servers: [{ name: "github", status: "connected" }, { name: "db", status: "failed", error: "refused" }],
} as Session;

const titles = (session: Session, words = "") => helpOf(session, words).sections.map((one) => one.title);

test("a session that has told nothing has no sections", () => {
  expect(titles(empty)).toEqual([]);
  expect(helpOf(empty).facts[0]).toEqual(["Claude Code", "unknown"]);
});

test("everything it told is in its section", () => {
  expect(titles(told)).toEqual(["Slash commands", "Tools", "MCP servers", "Tools of MCP servers", "Agents", "Skills", "Plugins"]);
  const [commands, tools, servers, theirs, , , plugins] = helpOf(told).sections;
  expect(commands?.entries).toEqual([{ name: "/compact", hint: "[words]", about: "Make room", tone: "" }]);
  expect(tools?.entries.map((one) => one.about)).toEqual(["Runs a shell command", "Reads a file"]);
  expect(servers?.entries.map((one) => [one.about, one.tone])).toEqual([["refused", "bad"], ["connected", "ok"]]);
  expect(theirs?.entries.map((one) => `${one.about}: ${one.name}`)).toEqual(["github: search code", "other: search code"]);
  expect(plugins?.entries.map((one) => one.name)).toEqual(["linter", "plain"]);
});

test("letters leave what has them in its name or description", () => {
  expect(titles(told, "room")).toEqual(["Slash commands"]);
  expect(titles(told, "zebra")).toEqual([]);
});
