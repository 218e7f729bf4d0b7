/**
 * Markdown that grows: the text as top-level blocks, of which only the open end is read again.
 * A block that is followed by two others cannot change any more and keeps its object, so that
 * nothing that was drawn is drawn anew. The whole is read once more when the text is complete.
 */
import { Lexer, type Token, type Tokens } from "marked";

export interface Block {
  readonly key: number;
  readonly raw: string;
  readonly token: Token;
  /** Whether more can still be added to it. */
  readonly open: boolean;
}

const OPEN_BLOCKS = 2;
/** `a list, then "-"` is a list and a paragraph until the next letter makes it one list. */

const OPTIONS = { gfm: true, breaks: false } as const;

export class GrowingMarkdown {
  #text = "";
  #complete = false;
  #frozen: Block[] = [];
  #frozenLength = 0;
  #blocks: readonly Block[] = [];

  /** The blocks of a text, most of them the same objects as before. */
  update(given: string, complete: boolean): readonly Block[] {
    const text = given.includes("\r") ? given.replace(/\r\n?/g, "\n") : given; // As marked does.
    if (text === this.#text && complete === this.#complete) return this.#blocks;
    if (!text.startsWith(this.#text.slice(0, this.#frozenLength))) this.#forget();
    this.#text = text;
    this.#complete = complete;
    this.#blocks = complete ? this.#whole() : this.#tail();
    return this.#blocks;
  }

  #forget(): void {
    this.#frozen = [];
    this.#frozenLength = 0;
  }

  #tail(): readonly Block[] {
    const tokens = lex(this.#text.slice(this.#frozenLength));
    const first = tokens.length - OPEN_BLOCKS;
    for (const token of tokens.slice(0, Math.max(0, first))) {
      this.#frozen.push(this.#same(this.#frozen.length, token, false));
      this.#frozenLength += token.raw.length;
    }
    const open = tokens.slice(Math.max(0, first));
    const start = this.#frozen.length;
    return [
      ...this.#frozen,
      ...open.map((token, at) => this.#same(start + at, token, at === open.length - 1)),
    ];
  }

  /** Lists and definitions that the cuts have parted come together here. */
  #whole(): readonly Block[] {
    const tokens = lex(this.#text);
    const defines = tokens.some((token) => token.type === "def");
    return tokens.map((token, key) =>
      defines ? { key, raw: token.raw, token, open: false } : this.#same(key, token, false),
    );
  }

  /** The block that was there before if nothing about it is new. */
  #same(key: number, token: Token, open: boolean): Block {
    const before = this.#blocks[key];
    if (before && before.raw === token.raw && before.token.type === token.type) {
      return before.open === open || token.type !== "code" ? before : { ...before, open };
    }
    return { key, raw: token.raw, token, open };
  }
}

/** Top-level tokens; space belongs to the block before it. */
function lex(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (const token of new Lexer(OPTIONS).lex(text)) {
    const last = tokens.at(-1);
    if (token.type !== "space") tokens.push(token);
    else if (last) last.raw += token.raw;
    else tokens.push({ type: "space", raw: token.raw } satisfies Tokens.Space);
  }
  return tokens;
}
