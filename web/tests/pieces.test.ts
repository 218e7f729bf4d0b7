import { expect, test } from "vitest";
import { firstPieces } from "../src/core/conversation/pieces.ts";

test("the pieces are the text, each of bounded length and ending with a line where it can", () => {
  const text = Array.from({ length: 400 }, (_, line) => `line ${line} ${"x".repeat(line % 37)}`).join("\n");
  const pieces = firstPieces(text, Infinity, 100);
  expect(pieces.join("")).toBe(text);
  expect(pieces.every((one) => one.length <= 100)).toBe(true);
  expect(pieces.slice(0, -1).every((one) => one.endsWith("\n"))).toBe(true);
});

test("a text without lines is cut between letters", () => {
  const text = "🪢".repeat(501);
  const pieces = firstPieces(text, Infinity, 101);
  expect(pieces.join("")).toBe(text);
  expect(pieces.every((one) => one.length % 2 === 0)).toBe(true);
});

test("no more is made than is wanted", () => {
  expect(firstPieces("a\n".repeat(1_000_000), 2)).toHaveLength(2);
  expect(firstPieces("", 5)).toEqual([]);
});
