/** What a model writes to do harm, as far as no page is needed to see that it cannot. */
import { readFileSync } from "node:fs";
import { Lexer, type Token } from "marked";
import { describe, expect, test } from "vitest";
import { GrowingMarkdown } from "../src/view/markdown/blocks.ts";
import { decoded, shownDirection, webAddress } from "../src/view/parts/text.ts";

const corpus = JSON.parse(readFileSync(new URL("../../tests/payloads/hostile.json", import.meta.url), "utf8")) as Record<string, string[]>;
const groups = Object.entries(corpus);

function* within(tokens: readonly Token[]): Generator<Token> {
  for (const token of tokens) {
    yield token;
    const { tokens: inner, items, header, rows } = token as unknown as Record<string, unknown>;
    if (Array.isArray(inner)) yield* within(inner as Token[]);
    if (Array.isArray(items)) yield* within(items as Token[]);
    for (const cell of [...((header as unknown[]) ?? []), ...((rows as unknown[][]) ?? []).flat()]) {
      yield* within((cell as { tokens: Token[] }).tokens);
    }
  }
}

test.each(groups)("%s lead nowhere but to the web", (_name, payloads) => {
  for (const payload of payloads) {
    for (const token of within(new Lexer({ gfm: true }).lex(payload))) {
      const { href } = token as { href?: string };
      const address = href === undefined ? null : webAddress(href);
      if (address !== null) expect(address, payload).toMatch(/^(https?:\/\/|mailto:)/);
    }
  }
});

test.each(groups)("%s are parsed one character at a time, without an error", (_name, payloads) => {
  for (const payload of payloads) {
    const growing = new GrowingMarkdown();
    const text = payload.slice(0, 400);
    for (let end = 1; end < text.length; end += 3) growing.update(text.slice(0, end), false);
    const raw = growing.update(text, true).map((block) => block.raw).join("");
    const whole = new Lexer({ gfm: true }).lex(text).map((token) => token.raw).join("");
    expect(raw, payload).toBe(whole);
  }
});

describe("addresses", () => {
  test.each([
    ["https://example.com/a?b=1&amp;c=2", "https://example.com/a?b=1&c=2"],
    ["HTTPS://EXAMPLE.COM", "https://example.com/"],
    ["mailto:a@example.com", "mailto:a@example.com"],
    ["https://аpple.com", "https://xn--pple-43d.com/"],
  ])("%s is shown as %s", (given, shown) => {
    expect(webAddress(given)).toBe(shown);
  });

  test.each([
    "javascript:alert(1)", "&#106;avascript:alert(1)", "java&Tab;script:x", "data:text/html,x", "file:///x", "//evil.test", "/api",
    "#x", "?x", "vbscript:x", "https:", "http://", "blob:https://x/1", "",
  ])("%s is no way to go", (given) => {
    expect(webAddress(given)).toBeNull();
  });
});

test.each([
  ["a &amp; b &lt;c&gt;", "a & b <c>"], ["&#65;&#x42;", "AB"], ["&unknown; &amp", "&unknown; &amp"],
  ["&#0;&#xD800;&#1114112;", "\ufffd\ufffd\ufffd"], ["&constructor; &__proto__;", "&constructor; &__proto__;"],
])("%s means %s", (given, meant) => {
  expect(decoded(given)).toBe(meant);
});

test("what turns a line around is seen, and what right-to-left writing needs stays", () => {
  expect(shownDirection("\u202etxt.exe")).toBe("\ufffdtxt.exe");
  expect(shownDirection("\u2067שלום\u2069\u200f")).toBe("\u2067שלום\u2069\u200f");
});
