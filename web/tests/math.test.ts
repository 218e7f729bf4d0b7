/** Formulas: which texts are read as such, that none of them takes long, and that KaTeX is kept in its box. */
import katex from "katex";
import type { Token, Tokens } from "marked";
import { describe, expect, test } from "vitest";
import { GrowingMarkdown } from "../src/view/markdown/blocks.ts";
import { within } from "../src/view/markdown/inline.ts";
import { isMath } from "../src/view/markdown/math.ts";
import { LIMITS } from "../src/view/math/limits.ts";
import { cost } from "./timing.ts";

/** The formulas of a text, in order; with lines of their own in brackets. */
function formulas(text: string): readonly string[] {
  const found: string[] = [];
  const look = (tokens: readonly Token[]): void => {
    for (const token of within(tokens)) {
      if (isMath(token)) found.push(token.display ? `[${token.tex}]` : token.tex);
      const { tokens: inner, items } = token as Tokens.Generic;
      if (inner) look(inner);
      if (Array.isArray(items)) look(items as Token[]);
    }
  };
  look(new GrowingMarkdown(true).update(text, true).map((block) => block.token));
  return found;
}

test.each([
  ["$x^2$", ["x^2"]],
  ["Is $a_1 * b_2$ equal to $c$?", ["a_1 * b_2", "c"]],
  ["$$x$$", ["[x]"]],
  ["See:\n$$\na\n- b\n$$\nend", ["[a\n- b]"]],
  ["- item\n\n  $$y = 1$$", ["[y = 1]"]],
  ["inline $$z$$ here", ["[z]"]],
  ["\\(x_1\\) and \\(y\\)", ["x_1", "y"]],
  ["\\[\nE = mc^2\n\\]", ["[E = mc^2]"]],
  ["**bold $k$**", ["k"]],
  ["$\\text{two words here}$", ["\\text{two words here}"]],
])("%j has the formulas %j", (text, expected) => {
  expect(formulas(text)).toEqual(expected);
});

test.each([
  "It costs $5 to $10.", "$5-$10", "$5/$6 each", "between $5 (low) and 10$ at most", "from $1,000.50 to $2k",
  "$HOME and $PATH", "$HOME/$PATH", "US$5 and CA$6", "a$b$c", "`$x$`", "```\n$x$\n```", "\\$x\\$", "$ x $", "$x", "$$", "$$$$", "$$ $$",
  "\\[not a link\\]", "\\[ \\] to do", "$a `b$` c", "$10k in revenue, $5k in cost", "$x\n\ny$", "1 \\( 2", "US$",
])("%j has none", (text) => {
  expect(formulas(text)).toEqual([]);
});

test("one character at a time gives the same as all at once", () => {
  const text = "One $x^2$ and:\n\n$$\n\\frac{a}{b}\n= c\n$$\n\n- a\n\n\\[ y = 1 \\]\n\nIt costs $5.\n";
  const growing = new GrowingMarkdown(true);
  for (let end = 1; end < text.length; end += 1) growing.update(text.slice(0, end), false);
  const shape = (blocks: ReturnType<GrowingMarkdown["update"]>) => blocks.map((block) => [block.token.type, block.raw]);
  expect(shape(growing.update(text, true))).toEqual(shape(new GrowingMarkdown(true).update(text, true)));
});

const HOSTILE = [
  "\\href{javascript:alert(1)}{x}", "\\href{https://evil.test}{x}", "\\url{https://evil.test}", "\\includegraphics{https://evil.test/a.png}",
  "\\htmlStyle{background:url(https://evil.test)}{x}", "\\htmlClass{a}{x}", "\\htmlId{app}{x}", "\\htmlData{a=b}{x}", "\\text{<img src=x onerror=alert(1)>}",
];

test.each(HOSTILE)("%s has no link, image, style or element of its own", (tex) => {
  let html = "";
  try {
    html = katex.renderToString(tex, LIMITS);
  } catch {
    return; // It stays the text it is.
  }
  const drawn = html.replace(/<annotation[\s\S]*?<\/annotation>/g, "");
  expect(drawn).not.toMatch(/<a[ >]|<img|href=|url\(|id=|data-|onerror=alert\(1\)>/);
});

test("macros without an end and boxes without a limit are refused", () => {
  expect(() => katex.renderToString("\\def\\a{\\a\\a}\\a", LIMITS)).toThrow();
  const html = katex.renderToString("\\rule{9999em}{9999em}", LIMITS);
  expect([...html.matchAll(/(?:height|width|right-width|top-width):([\d.]+)em/g)].every(([, size]) => Number(size) <= 25)).toBe(true);
});

describe("time", () => {
  const UNITS = ["{", "\\frac", "x^", "a_", "\\left(", "\\sqrt{", "\\begin{matrix}", "&", "\\\\", "\\text{", "\\hspace{9em}", "\\underbrace{", "'", "\\overset"];
  test.each(UNITS)("the longest formula of %j is drawn or refused in little time", (unit) => {
    const tex = unit.repeat(Math.floor(2_000 / unit.length));
    const closed = tex + "}".repeat(tex.split("{").length - 1);
    const work = (): void => {
      for (const each of [tex, closed]) {
        try {
          katex.renderToString(each, { ...LIMITS, displayMode: true });
        } catch {
          // Refused.
        }
      }
    };
    expect(cost(work)).toBeLessThan(1_000);
  });
});
