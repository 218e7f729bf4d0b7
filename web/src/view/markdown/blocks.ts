/**
 * Markdown that grows: the text as top-level blocks, of which only the open end is parsed again. A
 * block that is followed by two others cannot change any more and keeps its object, so that nothing
 * that was drawn is drawn again. Code between fences is not parsed again at all until the fence
 * closes. The whole text is parsed again when it is complete.
 */
import type { MarkedOptions, Token, Tokens } from "marked";
import { blockTokens } from "./inline.ts";
import { MATH } from "./math.ts";
import { steady, withoutHalfFence } from "./steady.ts";

export interface Block {
  readonly key: number;
  readonly raw: string;
  readonly token: Token;
  /** Whether more can still be added to it. */
  readonly open: boolean;
}

/** How many blocks at the end may still change: `a list, then "-"` is a list and a paragraph until the next character makes it one list. */
const OPEN_BLOCKS = 2;

const OPTIONS = { gfm: true, breaks: false } as const;
const WITH_MATH = { ...OPTIONS, extensions: MATH } as const;

/** A fence without indentation whose line is complete: what follows is code until it is closed. */
// The whole fence or nothing: the pattern must not try again with a part of it.
const FENCE = /^(?=(`{3,}|~{3,}))\1[^\n]*\n/;

export class GrowingMarkdown {
  #text = "";
  #complete = false;
  #frozen: Block[] = [];
  #frozenLength = 0;
  #blocks: readonly Block[] = [];
  #weight = 0;
  readonly #options: MarkedOptions;

  /** With `math`, formulas are parsed. */
  constructor(math = false) {
    this.#options = math ? WITH_MATH : OPTIONS;
  }

  /** The number of characters that were parsed for the last update. */
  get weight(): number {
    return this.#weight;
  }

  /** The blocks of a text, most of them the same objects as before. */
  update(given: string, complete: boolean): readonly Block[] {
    const text = given.includes("\r") ? given.replace(/\r\n?/g, "\n") : given; // As marked does.
    if (text === this.#text && complete === this.#complete) return this.#blocks;
    if (!text.startsWith(this.#text.slice(0, this.#frozenLength))) this.#forget();
    const code = complete ? null : this.#longerCode(text);
    this.#text = text;
    this.#complete = complete;
    this.#blocks = code ?? (complete ? this.#whole() : this.#tail());
    return this.#blocks;
  }

  #forget(): void {
    this.#frozen = [];
    this.#frozenLength = 0;
  }

  /** The blocks if all new text belongs to a fence that was open before and still is. */
  #longerCode(text: string): readonly Block[] | null {
    const last = this.#blocks.at(-1);
    if (!last?.open || last.token.type !== "code") return null;
    const start = this.#text.length - last.raw.length;
    if (start !== this.#frozenLength || !text.startsWith(this.#text)) return null;
    const fence = FENCE.exec(last.raw);
    if (!fence?.[1]) return null;
    const line = this.#text.lastIndexOf("\n") + 1;
    const fresh = text.slice(Math.max(line, start + fence[0].length));
    if (closes(fence[1]).test(fresh)) return null;
    const raw = last.raw + text.slice(this.#text.length);
    const code = withoutHalfFence(raw.slice(fence[0].length)).replace(/\n$/, "");
    this.#weight = fresh.length;
    return [...this.#blocks.slice(0, -1), { ...last, raw, token: { ...last.token, raw, text: code } as Token }];
  }

  #tail(): readonly Block[] {
    const rest = this.#text.slice(this.#frozenLength);
    this.#weight = rest.length;
    const tokens = lex(steady(rest), this.#options);
    const first = firstOpen(tokens);
    for (const token of tokens.slice(0, first)) {
      this.#frozen.push(this.#same(this.#frozen.length, token, false));
      this.#frozenLength += token.raw.length;
    }
    const open = tokens.slice(first);
    const start = this.#frozen.length;
    return [
      ...this.#frozen,
      ...open.map((token, at) => this.#same(start + at, token, at === open.length - 1)),
    ];
  }

  /** Joins lists and definitions that the cuts have separated. */
  #whole(): readonly Block[] {
    this.#weight = this.#text.length;
    const tokens = lex(this.#text, this.#options);
    const defines = tokens.some((token) => token.type === "def");
    return tokens.map((token, key) =>
      defines ? { key, raw: token.raw, token, open: false } : this.#same(key, token, false),
    );
  }

  /** The previous block if nothing about it changed. */
  #same(key: number, token: Token, open: boolean): Block {
    const before = this.#blocks[key];
    if (before && before.raw === token.raw && before.token.type === token.type) {
      return before.open === open || token.type !== "code" ? before : { ...before, open };
    }
    return { key, raw: token.raw, token, open };
  }
}

/** Which of the last blocks may still change: none before a code block that has begun. */
function firstOpen(tokens: readonly Token[]): number {
  const last = tokens.at(-1);
  const fenced = last?.type === "code" && FENCE.test(last.raw);
  return Math.max(0, tokens.length - (fenced ? 1 : OPEN_BLOCKS));
}

/** Whether code between fences has its closing fence and is therefore complete. */
export function isFinished(block: Block): boolean {
  const fence = FENCE.exec(block.raw)?.[1];
  if (block.open || fence === undefined) return false;
  const last = block.raw.trimEnd().split("\n").at(-1)?.trim() ?? "";
  return last.startsWith(fence) && last.split("").every((sign) => sign === fence.charAt(0)) && block.raw.trimEnd().includes("\n");
}

/** A line that ends code which began with this fence, or the beginning of such a line. */
function closes(fence: string): RegExp {
  return new RegExp(`^ {0,3}${fence}[~\`]*[ \\t]*$`, "m");
}

/** Top-level tokens; space belongs to the block before it. */
function lex(text: string, options: MarkedOptions): readonly Token[] {
  const tokens: Token[] = [];
  for (const token of blockTokens(text, options)) {
    const last = tokens.at(-1);
    if (token.type !== "space") tokens.push(token);
    else if (last) last.raw += token.raw;
    else tokens.push({ type: "space", raw: token.raw } satisfies Tokens.Space);
  }
  return tokens;
}
