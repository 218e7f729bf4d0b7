/**
 * Formulas in Markdown: `$$…$$`, `\\(…\\)`, `\\[…\\]` and `$…$`, as extensions of the parser. A single
 * dollar sign is a price or a variable far more often than a formula, so it has narrow rules. Every
 * search is bounded, so that no text takes more than linear time. Pure.
 */
import type { MarkedOptions, Token, Tokens } from "marked";

export interface MathToken extends Tokens.Generic {
  readonly type: "math";
  readonly raw: string;
  readonly tex: string;
  /** Whether it is a block on its own lines. */
  readonly display: boolean;
}

const LONGEST = 2_000;
const LONGEST_INLINE = 200;

const BLOCK_START = /^ {0,3}(?:\$\$|\\\[)/;
/** Something that a formula has and a word in brackets does not have. */
const SIGN = /[\\^_=+*/<>{}|\d-]/;
const COMMAND = /\\[a-zA-Z]+(?:\{[^{}]*\})?/g;
/** What must not precede the dollar sign of a formula: `US$5`, `a$b`. */
const STICKS = /[\p{L}\p{N}\\$]/u;
/** A separate word in a text that begins with a digit: `5 (low) and 10`. */
const A_WORD = /[\s(][A-Za-z]{2}/;
const TWO_WORDS = /[A-Za-z]{2}\s+[A-Za-z]{2}/;

export function isMath(token: Token): token is MathToken {
  return token.type === "math";
}

function formula(raw: string, tex: string, display: boolean): MathToken {
  return { type: "math", raw, tex: tex.trim(), display };
}

/** A formula from the beginning of a line to the end of a line, without a blank line. */
function block(src: string): MathToken | undefined {
  const start = BLOCK_START.exec(src)?.[0];
  if (start === undefined) return undefined;
  const dollars = start.endsWith("$");
  const part = src.slice(0, LONGEST + start.length + 2);
  const end = part.indexOf(dollars ? "$$" : "\\]", start.length);
  if (end < 0) return undefined;
  const tex = part.slice(start.length, end);
  const after = /^[ \t]*(?:\n|$)/.exec(src.slice(end + 2, end + 200))?.[0];
  if (after === undefined || tex.trim() === "" || /\n[ \t]*\n/.test(tex) || tex.includes("`") || (!dollars && !SIGN.test(tex))) return undefined;
  return formula(src.slice(0, end + 2) + after, tex, true);
}

/** Where a formula begins in the middle of a paragraph: at the start of a line, near the paragraph's own start. */
function blockStart(src: string): number | undefined {
  const near = src.slice(0, LONGEST);
  const end = near.indexOf("\n\n");
  const paragraph = end < 0 ? near : near.slice(0, end);
  for (const { index } of paragraph.matchAll(/\n {0,3}(?:\$\$|\\\[)/g)) {
    // Only where a formula really begins: each cut of a paragraph costs as much as a paragraph.
    if (block(src.slice(index + 1, index + 2 * LONGEST))) return index + 1;
  }
  return undefined;
}

function inline(src: string, before: readonly Token[]): MathToken | undefined {
  if (src.startsWith("$$")) return delimited(src, "$$", "$$", true);
  if (src.startsWith("\\(")) return delimited(src, "\\(", "\\)", false);
  if (!src.startsWith("$") || STICKS.test(before.at(-1)?.raw.at(-1) ?? "")) return undefined;
  return dollar(src);
}

function delimited(src: string, open: string, close: string, display: boolean): MathToken | undefined {
  const part = src.slice(0, LONGEST + 4);
  const end = part.indexOf(close, open.length);
  const tex = end < 0 ? "" : part.slice(open.length, end);
  if (tex.trim() === "" || tex.includes("`")) return undefined;
  return formula(part.slice(0, end + close.length), tex, display);
}

/** `$x^2$`, but neither `$5 and $10` nor `$HOME/$USER`. */
function dollar(src: string): MathToken | undefined {
  const part = src.slice(0, LONGEST_INLINE + 3);
  const end = part.indexOf("$", 1);
  const tex = end < 0 ? "" : part.slice(1, end);
  if (tex === "" || /^\s|[\s\\]$|[\n`]/.test(tex)) return undefined;
  if (/[\p{L}\p{N}$]/u.test(part.charAt(end + 1))) return undefined;
  const plain = tex.replace(COMMAND, "");
  if (TWO_WORDS.test(plain) || (/^\d/.test(plain) && A_WORD.test(plain))) return undefined;
  return formula(part.slice(0, end + 1), tex, false);
}

/** Where the next formula may begin. */
function inlineStart(src: string): number | undefined {
  return /\$|\\\(/.exec(src)?.index;
}

/** For the options of a lexer. */
export const MATH: NonNullable<MarkedOptions["extensions"]> = {
  renderers: {},
  childTokens: {},
  block: [block],
  startBlock: [blockStart],
  inline: [inline],
  startInline: [inlineStart],
};
