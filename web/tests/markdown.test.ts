/** Markdown that grows ends as Markdown that came at once, and keeps what was drawn. */
import { expect, test } from "vitest";
import { GrowingMarkdown } from "../src/view/markdown/blocks.ts";

const TEXTS: Readonly<Record<string, string>> = {
  "paragraphs and code": "One.\n\nTwo **bold**.\n\n```ts\nconst a = 1;\n\nconst b = 2;\n```\n\nThree.\n",
  "a loose list": "Intro\n\n- a\n\n- b\n\n  more of b\n\n- c\n\nEnd\n",
  "a table": "| a | b |\n|---|--:|\n| 1 | 2 |\n| 3 | 4 |\n\nafter\n",
  "a setext heading": "Title\n=====\n\ntext\n",
  "a definition at the end": "See [it][1].\n\nMore.\n\nMore.\n\n[1]: https://example.com\n",
  "carriage returns": "a\r\n\r\nb\r\n\r\nc\r\n\r\nd\r\n",
};

const shape = (text: string) => new GrowingMarkdown().update(text, true).map((block) => [block.token.type, block.raw]);

test.each(Object.entries(TEXTS))("%s: one character at a time gives the same as all at once", (_name, text) => {
  const growing = new GrowingMarkdown();
  for (let end = 1; end < text.length; end += 1) growing.update(text.slice(0, end), false);
  const blocks = growing.update(text, true);
  expect(blocks.map((block) => [block.token.type, block.raw])).toEqual(shape(text));
});

test("blocks that are closed keep their objects while the text grows", () => {
  const growing = new GrowingMarkdown();
  const text = Array.from({ length: 40 }, (_, at) => `Paragraph ${at} with some words.\n\n`).join("");
  let before = growing.update(text.slice(0, 900), false);
  for (let end = 901; end <= text.length; end += 7) {
    const after = growing.update(text.slice(0, end), false);
    for (const [at, block] of before.slice(0, -2).entries()) expect(after[at]).toBe(block);
    before = after;
  }
});

test("a text that was taken back is read anew", () => {
  const growing = new GrowingMarkdown();
  growing.update("# One\n\ntwo\n\nthree\n\nfour", false);
  expect(growing.update("Other\n\ntext", true).map((block) => block.raw)).toEqual(["Other\n\n", "text"]);
});
