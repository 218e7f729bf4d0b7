/** No words of a model keep the page busy: Markdown is read within bounds, and in linear time. */
import { expect, test } from "vitest";
import type { Token, Tokens } from "marked";
import { planParts } from "../src/view/markdown/plan_model.ts";
import { GrowingMarkdown } from "../src/view/markdown/blocks.ts";
import { readsBlocks, readsInline } from "../src/view/markdown/budget.ts";
import { within } from "../src/view/markdown/inline.ts";
import { cost } from "./timing.ts";

const SIZE = 64_000;
const UNITS = [
  ">", "> ", "- ", "1. ", "[", "![", "[a](", "](", "`", "`a ", "_", "*", "*a ", "**a ", "_a", "a_", "*a_ ", "~", "~~a ",
  "<", "<a ", "<!--", "\\", "&", "http://", "www.", "|", "|a", "\n", "a\n", "a  \n", "#", "# a\n", "=", "-", "> a\n",
  "```\n", "~~~ a\n", "[a]: b\n", "[a]: ", "[a]", "[a][", "- a\n", "- a\n\n", "\t", "-\t", "- [ ] ", "<div>\n", "1)\n",
  "a:", "*_", "***a ", "a**b", "a*b_", '[a](b "', '<a b="', "[a](<", "- > ", "a.", "a@", " ", "| \n", "\n ", "-\n", ">- ",
  "$", "$$", "$a", "$ a", "$a$ ", "$$a", "$$a\n", "$$\n", "$$\na\n\n", "\\(", "\\[", "\\[a\n", "\\[\n\n", "\\(a ", "a\n$$", "$a\n",
]; // prettier-ignore
const TEXTS: Readonly<Record<string, (size: number) => string>> = {
  ...Object.fromEntries(UNITS.map((unit) => [JSON.stringify(unit), (size: number) => unit.repeat(size / unit.length)])),
  "an address without an end": (size) => `${"a".repeat(size)}@`,
  "an address in parts": (size) => `${"a.".repeat(size / 2)}@`,
  "ten addresses": (size) => `${"a".repeat(size / 10)}@ `.repeat(10),
  "a code without an end": (size) => `\`${"a".repeat(size)}`,
  "brackets in brackets": (size) => "[".repeat(size / 2) + "]".repeat(size / 2),
  "lists in lists": (size) => lines(size, (at) => `${"  ".repeat(at)}- a\n`),
  "quotes in quotes": (size) => lines(size, (at) => `${">".repeat(at)}\n`),
  "a table of one row": (size) => `${"|a".repeat(size / 4)}\n${"|-".repeat(size / 4)}`,
  "a table of many rows": (size) => `|a|\n|-|\n${"|a|\n".repeat(size / 4)}`,
  "signs and a letter": (size) => `${"-".repeat(size)}a`,
  "blanks and a letter": (size) => `|a\n${" ".repeat(size)}a`,
};

function lines(size: number, line: (at: number) => string): string {
  let text = "";
  for (let at = 1; text.length < size; at += 1) text += line(at);
  return text;
}

/** Read everything that is drawn of some tokens. */
function read(tokens: readonly Token[]): void {
  for (const token of within(tokens)) {
    const { tokens: inner, items, header, rows } = token as Tokens.Generic;
    if (inner) read(inner);
    if (Array.isArray(items)) read(items as Token[]);
    for (const cell of [...((header ?? []) as Tokens.TableCell[]), ...((rows ?? []) as Tokens.TableCell[][]).flat()]) read(cell.tokens);
  }
}

test.each(Object.entries(TEXTS))("%s is read in little time, at once and as it grows", (_name, text) => {
  const given = text(SIZE);
  const once = () => read(new GrowingMarkdown(true).update(given, true).map((block) => block.token));
  expect(cost(once, 3, 1_000)).toBeLessThan(1_500);
  const growing = () => {
    const markdown = new GrowingMarkdown(true);
    for (const part of [0.9, 0.99, 1]) read(markdown.update(given.slice(0, given.length * part), false).map((block) => block.token));
  };
  expect(cost(growing, 3, 2_000)).toBeLessThan(3_000);
  expect(cost(() => planParts(given), 3, 1_000)).toBeLessThan(1_500);
}, 60_000); // The limits are CPU time; the clock also counts what other processes take.

test("text that is not parsed is shown unchanged", () => {
  const deep = `${">".repeat(60)} a`;
  expect(new GrowingMarkdown().update(deep, true).map((block) => [block.token.type, block.raw])).toEqual([["html", deep]]);
  const [block] = new GrowingMarkdown().update(`${"a_".repeat(400)}`, true);
  const tokens = within((block?.token as Tokens.Paragraph).tokens);
  expect(tokens.map((token) => token.raw).join("")).toBe("a_".repeat(400));
});

test("what people and models write is read", () => {
  expect(readsBlocks("- a\n  - b\n    1. c\n> > quoted\n\n```\n" + " ".repeat(150) + "code\n```\n")).toBe(true);
  expect(readsInline("Some **bold** words with `code`, a [link](https://example.com/a_b) and more. ".repeat(40))).toBe(true);
});
