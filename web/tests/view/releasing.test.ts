import { expect, test } from "vitest";
import type { TranscriptRow } from "../../src/core/conversation/rows.ts";
import { KEPT_ROWS, MOST_ROWS, oldestKept } from "../../src/view/transcript/releasing.ts";

const row = (n: number, kind = "item"): TranscriptRow => ({ kind, id: `r${n}`, item: { id: `r${n}` } }) as unknown as TranscriptRow;
const rows = Array.from({ length: 3_000 }, (_, n) => row(n, n % 2 === 0 ? "item" : "group"));

test("nothing is dropped while few rows are above what is seen", () => {
  expect(oldestKept(rows, 0)).toBeNull();
  expect(oldestKept(rows, MOST_ROWS)).toBeNull();
});

test("some rows above what is seen stay, from an item that is not in a group", () => {
  expect(oldestKept(rows, 2_000)).toBe(`r${2_000 - KEPT_ROWS}`);
  expect(oldestKept(rows, 2_001)).toBe(`r${2_000 - KEPT_ROWS}`);
});

test("a conversation of nothing but groups is kept", () => {
  expect(oldestKept(rows.map((_, n) => row(n, "turn")), 2_000)).toBeNull();
});
