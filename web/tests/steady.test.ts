/** The open end of Markdown that grows changes its look as seldom as it can. */
import { describe, expect, test } from "vitest";
import { Chunks, LINES } from "../src/view/code/chunks.ts";
import { GrowingMarkdown } from "../src/view/markdown/blocks.ts";
import { pauseFor } from "../src/view/markdown/pace.ts";
import { steady, withoutHalfFence } from "../src/view/markdown/steady.ts";

/** The kinds of blocks that are seen while a text grows, without repetitions. */
function seen(text: string): readonly string[] {
  const growing = new GrowingMarkdown();
  const kinds: string[] = [];
  for (let end = 1; end <= text.length; end += 1) {
    const now = growing.update(text.slice(0, end), end === text.length).map((block) => block.token.type).join(" ");
    if (now !== "" && kinds.at(-1) !== now) kinds.push(now);
  }
  return kinds;
}

describe("while it grows", () => {
  test.each([
    ["a table", "| a | b |\n|---|---|\n| 1 | 2 |", ["table"]],
    ["a heading", "# Title", ["heading"]],
    ["a list", "- one\n- two", ["list"]],
    ["a numbered list", "1. one\n2. two", ["list"]],
    ["code", "```js\nlet a;\n```", ["code"]],
    ["words and a rule", "text\n\n---\n\nmore", ["paragraph", "paragraph hr", "paragraph hr paragraph"]],
    ["words and a list", "text\n\n- a", ["paragraph", "paragraph list"]],
    ["words with a dash below", "text\n- a", ["paragraph", "paragraph list"]],
  ])("%s is never taken for something else", (_name, text, kinds) => {
    expect(seen(text)).toEqual(kinds);
  });

  test.each([
    ["**bold", "**bold**"], ["a **", "a "], ["`cod", "`cod`"], ["a `", "a "], ["~~gone", "~~gone~~"],
    ["see [the docs](https://exam", "see the docs"], ["![pic](https://", "pic"], ["done **b** and", "done **b** and"],
    ["```js\nlet **a", "```js\nlet **a"], ["one\n\ntwo **b", "one\n\ntwo **b**"],
  ])("%j is drawn as %j", (given, drawn) => {
    expect(steady(given)).toBe(drawn);
  });

  test("half a fence at the end of code is not seen", () => {
    expect(withoutHalfFence("let a;\n``")).toBe("let a;\n");
    const growing = new GrowingMarkdown();
    growing.update("```js\nlet a;\n", false);
    expect(growing.update("```js\nlet a;\n``", false).at(-1)?.token).toMatchObject({ type: "code", text: "let a;" });
  });

  test("long code is not read again for each of its lines", () => {
    const growing = new GrowingMarkdown();
    let text = "Words.\n\n```js\n";
    for (let line = 0; line < 2_000; line += 1) {
      text += `let a${line} = ${line};\n`;
      growing.update(text, false);
      expect(growing.weight).toBeLessThan(100);
    }
    const end = growing.update(`${text}\`\`\`\n\nEnd`, true);
    expect(end.map((block) => block.token.type)).toEqual(["paragraph", "code", "paragraph"]);
  });
});

test("the longer the open end, the more seldom it is read", () => {
  expect([100, 5_000, 20_000, 100_000, 1e6].map(pauseFor)).toEqual([0, 60, 160, 400, 1_000]);
});

describe("code in pieces", () => {
  test("is the code, in pieces of so many lines that stay as they are", () => {
    const cutting = new Chunks();
    let code = "";
    let before: readonly string[] = [];
    for (let line = 0; line < 500; line += 1) {
      code += `line ${line}\n`;
      const now = cutting.update(code);
      expect(now.join("")).toBe(code);
      expect(now.slice(0, -1).every((piece) => piece.split("\n").length === LINES + 1)).toBe(true);
      for (const [at, piece] of before.slice(0, -1).entries()) expect(now[at]).toBe(piece);
      before = now;
    }
    expect(cutting.update("other").join("")).toBe("other");
  });
});
