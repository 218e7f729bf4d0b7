/**
 * What stands within the blocks (emphasis, links, code) is read when it is drawn and not before: of
 * a list with a thousand entries that grows by a word, only the last one is read again.
 */
import { Lexer, type MarkedOptions, type Token, type Tokens } from "marked";
import { readsBlocks, readsInline } from "./budget.ts";

const unread = new WeakMap<readonly Token[], () => void>();

/** The blocks of a text; read what is within one with `within`. */
export function blockTokens(text: string, options: MarkedOptions): readonly Token[] {
  if (!readsBlocks(text)) return [asItIs(text)];
  const lexer = new Lexer({ ...options }); // It keeps its tokenizer in the options, and must not share it.
  const blocks = lexer.blockTokens(text, lexer.tokens);
  for (const { src, tokens } of lexer.inlineQueue) {
    unread.set(tokens, () => void (readsInline(src) ? lexer.inlineTokens(src, tokens) : tokens.push(plain(src))));
  }
  lexer.inlineQueue = [];
  return blocks;
}

/** The tokens, read if they were not yet. */
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
