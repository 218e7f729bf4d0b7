/**
 * What of Markdown is read and what is shown as the text it is. A model chooses the words, and the
 * parser takes square time for some of them: while it works nothing on the page can be answered.
 * Bounds by counting, so that the same text always looks the same. Pure.
 */

const MOST_TEXT = 256 * 1024;
const MOST_DEPTH = 50;
/** Columns before a list or a quote: two for each level. */
const MOST_INDENT = 2 * MOST_DEPTH;
const MOST_INLINE = 10_000;
const MOST_SIGNS = 500;
const LONGEST_RUN = 1_000;
const LONGEST_LINE = 500;

/** Whether the blocks of a text can be read: not too much of it, and nested not too deep. */
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

/** Whether the end of a growing block is short enough to be looked at sign by sign. */
export function readsEnd(block: string): boolean {
  return block.length <= MOST_INLINE && !block.split("\n").some((line) => line.length > LONGEST_LINE);
}

const SIGNS: ReadonlySet<number> = new Set([..."_*~[]()<>`!\\&|$"].map((sign) => sign.charCodeAt(0)));

/** Whether a line begins with more quotes and lists within each other than anybody can see. */
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
