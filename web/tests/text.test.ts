/** Rows, sessions, matching, words for times and sums: pure functions by their tables. */
import { expect, test } from "vitest";
import { fit, ranked, slashCommands, slashWord } from "../src/core/matching.ts";
import { modelLabel, modesUpTo, shownStatus } from "../src/core/sessions/status.ts";
import { ago, bytes, clockTime, duration, money, tokens } from "../src/core/time.ts";

test.each([
  [clockTime(8), "0:08"], [clockTime(185), "3:05"], [clockTime(3753), "1:02:33"], [clockTime(-4), "0:00"],
  [duration(0.42), "0.4 s"], [duration(12.9), "12 s"], [duration(185), "3 min 5 s"], [duration(3720), "1 h 2 min"],
  [ago(2), "now"], [ago(12), "12 s"], [ago(190), "3 m"], [ago(14_000), "3 h"], [ago(200_000), "2 d"],
  [money(0), "$0.00"], [money(0.0031), "$0.0031"], [money(12.1), "$12.10"],
  [tokens(950), "950"], [tokens(1_240), "1.2 k"], [tokens(46_200), "46 k"], [tokens(1_200_000), "1.2 M"],
  [bytes(12), "12 B"], [bytes(3_480), "3.4 KB"], [bytes(5 * 1024 * 1024), "5 MB"],
  [modelLabel("claude-sonnet-4-5-20250929"), "sonnet 4.5"], [modelLabel("claude-opus-5-5"), "opus 5.5"],
  [modelLabel("claude-sonnet-4-20250514"), "sonnet 4"], [modelLabel("my-own"), "my-own"],
])("%s is %s", (given, wanted) => {
  expect(given).toBe(wanted);
});

test("a state nobody knows is shown by its own name", () => {
  expect(shownStatus({ state: "dreaming", since: 0, last_event: 0, waiting: 0, background: 0, detail: null })).toEqual({ label: "dreaming", tone: "quiet", busy: false });
});

test("no mode above the ceiling is offered, and none without checks ever", () => {
  expect(modesUpTo("default").map((mode) => mode.value)).toEqual(["plan", "dontAsk", "default"]);
  expect(modesUpTo(undefined).map((mode) => mode.value)).not.toContain("bypassPermissions");
});

test("letters at the beginning of a word fit better than within it", () => {
  expect(ranked("co", ["recover", "context", "a-compact"], (one) => one)).toEqual(["context", "a-compact", "recover"]);
  expect(fit("xyz", "context")).toBeNull();
});

test.each([
  ["/co", 3, "co"], ["/", 1, ""], ["/cost now", 9, null], ["see /co", 7, null], ["/usr/bin", 8, null], ["  /re", 5, "re"],
])("in %j at %i the command so far is %j", (text, caret, word) => {
  expect(slashWord(text, caret)).toBe(word);
});

test("commands come as names or as objects, and hidden ones not at all", () => {
  const listed = ["cost", { name: "compact", description: "d", hint: "h" }, { name: "__remote" }, null];
  expect(slashCommands(listed).map((one) => one.name)).toEqual(["cost", "compact"]);
});
