import { describe, expect, test } from "vitest";
import type { PendingRow } from "../../src/protocol/pending.ts";
import { roomOf } from "../../src/view/decisions/frame/keyboard_inset.ts";
import { isMeant } from "../../src/view/decisions/frame/swipe.ts";
import { waitingOf } from "../../src/view/decisions/dock/waiting.ts";

describe("the room a keyboard leaves", () => {
  test.each([
    ["no keyboard", 844, { height: 844, offsetTop: 0, scale: 1 }, { height: 844, below: 0 }],
    ["a keyboard over the page", 844, { height: 500, offsetTop: 0, scale: 1 }, { height: 500, below: 344 }],
    ["the page moved up under it", 844, { height: 500, offsetTop: 100, scale: 1 }, { height: 500, below: 244 }],
    ["a page that shrank for it", 500, { height: 500, offsetTop: 0, scale: 1 }, { height: 500, below: 0 }],
    ["a page that is magnified", 844, { height: 422, offsetTop: 60, scale: 2 }, { height: 844, below: 0 }],
    ["a browser that does not tell", 844, null, { height: 844, below: 0 }],
  ])("%s", (_, page, seen, room) => {
    expect(roomOf(page, seen)).toEqual(room);
  });
});

test.each([
  ["a long way", 90, 900, true],
  ["a flick", 40, 60, true],
  ["a slow start that was let go", 40, 600, false],
  ["a tremble", 10, 5, false],
])("%s down puts a sheet down or does not", (_, way, ms, meant) => {
  expect(isMeant(way, ms)).toBe(meant);
});

describe("who waits", () => {
  const row = (part: Partial<PendingRow>) =>
    ({ kind: "permission", title: "Bash", tool_name: "Bash", input: {}, agent: null, details: {}, description: null, ...part }) as PendingRow;

  test.each([
    [row({ input: { command: "ls -la\nrm x" } }), "Bash", "ls -la"],
    [row({ input: { command: "ls" }, agent: "a" }), "Bash of a subagent", "ls"],
    [row({ title: "Edit", tool_name: "Edit", input: { file_path: "/a/b.py", old_string: "x", new_string: "y" } }), "Edit", "/a/b.py"],
    [row({ title: "Small > Echo", tool_name: "mcp__small__echo" }), "Small > Echo", "Use Small > Echo?"],
    [row({ kind: "question", input: { questions: [{ question: "Which?", options: [{ label: "A" }, { label: "B" }] }] } }), "A question", "Which?"],
    [row({ kind: "plan" }), "A plan", "No changes until you approve"],
    [row({ kind: "elicitation", details: { server: "billing" }, description: "Which team?" }), "billing", "Which team?"],
  ])("%#", (one, who, what) => {
    expect(waitingOf(one)).toMatchObject({ who, what });
  });
});
