import { expect, test } from "vitest";
import { fullest, levelOf, limitName, passed, stopWords, windowsOf } from "../src/core/settings/limits.ts";
import type { LimitRow } from "../src/protocol/lobby.ts";

const row = (part: Partial<LimitRow> = {}): LimitRow => ({ account: "", kind: "five_hour", utilization: 0.5, resets_at: 5_000, status: "allowed", at: 1, ...part });

test.each([
  [null, "fine"],
  [0.79, "fine"],
  [0.8, "warn"],
  [0.949, "warn"],
  [0.95, "bad"],
  [1, "bad"],
])("U115 a window with %s used is shown as %s", (used, level) => {
  expect(levelOf(used)).toBe(level);
});

test("U115 a threshold is announced once for each window", () => {
  expect(passed(row({ utilization: 0.7 }), row({ utilization: 0.82 }), 0)).toMatch(/^5-hour limit: 82 % used, resets /);
  expect(passed(row({ utilization: 0.82 }), row({ utilization: 0.9 }), 0)).toBe("");
  expect(passed(row({ utilization: 0.9 }), row({ utilization: 0.96 }), 0)).toMatch(/96 % used/);
  expect(passed(row({ utilization: 0.9 }), row({ utilization: 0.85, resets_at: 9_000 }), 0)).toMatch(/85 % used/);
  expect(passed(undefined, row({ utilization: null }), 0)).toBe("");
});

test("U115 windows that have reset and other accounts are left out, and the fullest is found", () => {
  const rows = [row(), row({ kind: "seven_day", utilization: 0.9 }), row({ account: "work", utilization: 1 }), row({ kind: "old", resets_at: 10 })];
  const windows = windowsOf(rows, "", 100);
  expect(windows.map((each) => each.kind)).toEqual(["five_hour", "seven_day"]);
  expect(fullest(windows)?.kind).toBe("seven_day");
  expect(fullest([])).toBeNull();
});

test("U116 a stopped session says which limit, when it resets and when it continues", () => {
  expect(limitName("seven_day")).toBe("Weekly limit");
  expect(limitName("")).toBe("Usage limit");
  expect(stopWords({ kind: "five_hour", resets_at: 5_000, continues_at: null }, 0)).toMatch(/^5-hour limit reached\. It resets /);
  expect(stopWords({ kind: "five_hour", resets_at: 5_000, continues_at: 5_030 }, 0)).toMatch(/^5-hour limit reached\. This session continues /);
});
