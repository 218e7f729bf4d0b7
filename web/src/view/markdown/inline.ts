/**
 * The inline content of blocks (emphasis, links, code) is parsed when it is drawn and not before:
 * of a list with a thousand entries that grows by a word, only the last entry is parsed again.
 */
import { Lexer, type MarkedOptions, type Token, type Tokens } from "marked";
import { readsBlocks, readsInline } from "./budget.ts";

const unread = new WeakMap<readonly Token[], () => void>();

/** The blocks of a text; `within` parses the inline content of one of them. */
export function blockTokens(text: string, options: MarkedOptions): readonly Token[] {
  if (!readsBlocks(text)) return [asItIs(text)];
  const lexer = new Lexer({ ...options }); // It stores its tokenizer in the options, so the options must not be shared.
  const blocks = lexer.blockTokens(text, lexer.tokens);
  for (const { src, tokens } of lexer.inlineQueue) {
    unread.set(tokens, () => void (readsInline(src) ? lexer.inlineTokens(src, tokens) : tokens.push(plain(src))));
  }
  lexer.inlineQueue = [];
  return blocks;
}

/** The tokens, parsed if they were not parsed yet. */
export function within(tokens: readonly Token[]): readonly Token[] {
  const read = unread.get(tokens);
  if (read) {
    unread.delete(tokens);
    read();
  }
  return tokens;
}

/** Text that is not parsed; it is shown unchanged, as raw HTML is. */
function asItIs(text: string): Tokens.HTML {
  return { type: "html", raw: text, text, pre: false, block: true };
}

function plain(text: string): Tokens.Text {
  return { type: "text", raw: text, text, escaped: false };
}
