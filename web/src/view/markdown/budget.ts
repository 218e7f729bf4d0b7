/**
 * Which Markdown is parsed and which is shown as plain text. A model chooses the text, and the
 * parser takes quadratic time for some texts: while it runs, the page does not respond. The limits
 * are counts and not times, so that the same text always looks the same. Pure.
 */

const MOST_TEXT = 256 * 1024;
const MOST_DEPTH = 50;
/** Indentation of a list or a quote: two columns for each level. */
const MOST_INDENT = 2 * MOST_DEPTH;
const MOST_INLINE = 10_000;
const MOST_SIGNS = 500;
const LONGEST_RUN = 1_000;
const LONGEST_LINE = 500;

/** Whether the blocks of a text can be parsed: it is not too long and not nested too deeply. */
export function readsBlocks(text: string): boolean {
  if (text.length > MOST_TEXT) return false;
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start);
    if (isDeep(text, start, end < 0 ? text.length : end)) return false;
    if (end < 0) break;
    start = end + 1;
  }
  return true;
}

/** Whether the inline content of a block can be parsed: emphasis, links, code. */
export function readsInline(text: string): boolean {
  if (text.length > MOST_INLINE) return false;
  let [signs, run] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    run = code === 32 || code === 10 || code === 9 ? 0 : run + 1;
    if (SIGNS.has(code)) signs += 1;
    if (run > LONGEST_RUN || signs > MOST_SIGNS) return false;
  }
  return true;
}

/** Whether the end of a growing block is short enough to be examined character by character. */
export function readsEnd(block: string): boolean {
  return block.length <= MOST_INLINE && !block.split("\n").some((line) => line.length > LONGEST_LINE);
}

const SIGNS: ReadonlySet<number> = new Set([..."_*~[]()<>`!\\&|$"].map((sign) => sign.charCodeAt(0)));

/** Whether a line begins with more nested quotes and lists than a user could see. */
function isDeep(text: string, start: number, end: number): boolean {
  let [depth, blanks] = [0, 0];
  for (let at = start; at < end; at += 1) {
    const sign = text[at] ?? "";
    if (sign === " ") blanks += 1;
    else if (sign === "\t") blanks += 4;
    else if (sign === ">" || ((sign === "-" || sign === "+" || sign === "*") && isGap(text[at + 1]))) depth += 1;
    else if (sign >= "0" && sign <= "9") continue;
    else if ((sign === "." || sign === ")") && isGap(text[at + 1])) depth += 1;
    else return false;
    if (depth > MOST_DEPTH || (depth > 0 && blanks > MOST_INDENT)) return true;
  }
  return false;
}

function isGap(sign: string | undefined): boolean {
  return sign === undefined || sign === " " || sign === "\t" || sign === "\n";
}
