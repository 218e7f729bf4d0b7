import { expect, test } from "vitest";
import { bounds, leaders, periods, scale, spentBy, sums, tokensOf } from "../src/core/settings/usage.ts";
import type { UsageRow } from "../src/protocol/usage.ts";

const row = (bucket: number, project: string, model: string, cost: number, tokens = 10): UsageRow => ({
  bucket, project, profile: "", model, source: "log", cost_usd: cost, input_tokens: tokens, output_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0,
});

const at = (text: string) => new Date(text).getTime() / 1000;

test("days begin at local midnight, and the last is today", () => {
  const edges = bounds(at("2026-11-15T13:00:00"), "day", 3);
  expect(edges).toEqual(["2026-11-13", "2026-11-14", "2026-11-15", "2026-11-16"].map((day) => at(`${day}T00:00:00`)));
});

test("weeks begin on Monday", () => {
  const edges = bounds(at("2026-11-15T13:00:00"), "week", 2); // A Sunday.
  expect(edges).toEqual(["2026-11-02", "2026-11-09", "2026-11-16"].map((day) => at(`${day}T00:00:00`)));
});

test("months begin on their first day, also over the turn of the year", () => {
  const edges = bounds(at("2026-01-31T13:00:00"), "month", 3);
  expect(edges).toEqual(["2025-11-01", "2025-12-01", "2026-01-01", "2026-02-01"].map((day) => at(`${day}T00:00:00`)));
});

test("sums are by name, the largest first, with their shares", () => {
  const found = sums([row(0, "/a", "opus", 1), row(1, "/b", "opus", 2), row(1, "/a", "haiku", 1)], "model", "cost");
  expect(found.map((one) => [one.name, one.cost, one.share])).toEqual([["opus", 3, 0.75], ["haiku", 1, 0.25]]);
  expect(sums([], "model", "cost")).toEqual([]);
});

test("a period holds its parts in the order of their shades, the rest as one", () => {
  const rows = ["a", "b", "c", "d", "e", "f", "g"].map((name, n) => row(1, `/${name}`, "m", 10 - n));
  const named = leaders(sums(rows, "project", "cost"));
  expect(named).toEqual(["/a", "/b", "/c", "/d", "/e"]);
  const edges = bounds(at("2026-11-15T13:00:00"), "day", 2);
  const shown = periods({ first: 1, turns: [0, 4], rows, file_sessions: 0 }, edges, { step: "day", by: "project", measure: "cost", named, others: "rest" });
  expect(shown[0]).toMatchObject({ value: 0, turns: 0, parts: [] });
  expect(shown[1]?.parts.map((part) => part.name)).toEqual([...named, "rest"]);
  expect(shown[1]?.parts.at(-1)?.value).toBe(5 + 4);
  expect(shown[1]).toMatchObject({ label: "15 Nov", long: "15 Nov 2026", value: 49, turns: 4 });
});

test("six names need no rest", () => {
  const rows = ["a", "b", "c", "d", "e", "f"].map((name) => row(0, name, "m", 1));
  expect(leaders(sums(rows, "project", "cost"))).toHaveLength(6);
});

test.each([0.004, 0.9, 1, 7.78, 99, 1234, 7_000_000])("the scale for %d is round and high enough", (highest) => {
  const { top, ticks } = scale(highest);
  expect(top).toBeGreaterThanOrEqual(highest * (1 - 1e-9));
  expect(top).toBeLessThan(highest * 2.1);
  expect(ticks.length).toBeGreaterThanOrEqual(3);
  expect(ticks.length).toBeLessThanOrEqual(6);
  expect(ticks[0]).toBe(0);
});

test("nothing has a scale too", () => {
  expect(scale(0)).toEqual({ top: 1, ticks: [0] });
});

test("what is this server's and what the CLI's files tell can be told apart", () => {
  const rows = [row(0, "/a", "opus", 1, 5), { ...row(0, "/a", "opus", 0, 7), source: "files" }, { ...row(1, "/b", "", 2, 0), source: "files" }];
  expect(spentBy(rows, "log")).toEqual({ cost: 1, tokens: 5 });
  expect(spentBy(rows, "files")).toEqual({ cost: 2, tokens: 7 });
});

test("all kinds of tokens count", () => {
  expect(tokensOf({ ...row(0, "", "", 0, 1), output_tokens: 2, cache_read_input_tokens: 3, cache_creation_input_tokens: 4 })).toBe(10);
});
