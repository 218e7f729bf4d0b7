/**
 * What stands within the blocks (emphasis, links, code) is read when it is drawn and not before: of
 * a list with a thousand entries that grows by a word, only the last one is read again.
 */
import { Lexer, type MarkedOptions, type Token } from "marked";

const unread = new WeakMap<readonly Token[], () => void>();

/** The blocks of a text; read what is within one with `within`. */
export function blockTokens(text: string, options: MarkedOptions): readonly Token[] {
  const lexer = new Lexer({ ...options }); // It keeps its tokenizer in the options, and must not share it.
  const blocks = lexer.blockTokens(text, lexer.tokens);
  for (const { src, tokens } of lexer.inlineQueue) {
    unread.set(tokens, () => void lexer.inlineTokens(src, tokens));
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
