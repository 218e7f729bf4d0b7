/**
 * The open end of Markdown that grows, changed so that the next characters alter as little of it as
 * possible: what may become a heading, a table or a fence is hidden until it is one, open emphasis
 * is closed, and an incomplete link is shown as its text. Only for drawing; nothing is lost. Pure.
 */

import { readsEnd } from "./budget.ts";

/** A last line of punctuation only, whose meaning depends on the next character. */
const SIGNS = /(^|\n)[ \t]*(?:[-+*=#>_~|`:][-+*=#>_~|`: \t]*|\d{1,9}[.)]?)$/;

/** The first lines of what may become a table, still without its line of dashes. */
const TABLE_HEAD = /(^|\n)[ \t]*\|[^\n]*(?:\n[ \t]*\|?[ \t:|-]*)?$/;

const LINE_OF_DASHES = /\n[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\n/;

const HALF_LINK = /!?\[([^[\]\n]*)\]\((?:[^()\s]|\([^()\s]*\))*$/;

const FENCE_LINE = /^ {0,3}(`{3,}|~{3,})/;

/** The text with a steady end. */
export function steady(text: string): string {
  const start = text.lastIndexOf("\n\n") + 1;
  const block = text.slice(start);
  if (isInCode(text) || !readsEnd(block)) return text;
  const waits = TABLE_HEAD.exec(block);
  if (waits && !LINE_OF_DASHES.test(block)) return text.slice(0, start + waits.index);
  const signs = SIGNS.exec(block);
  if (signs) return text.slice(0, start + signs.index);
  return text.slice(0, start) + closed(block);
}

/** Code without a last line that looks like the beginning of its closing fence. */
export function withoutHalfFence(code: string): string {
  return code.replace(/(^|\n) {0,3}(?:`{1,2}|~{1,2})$/, "$1");
}

/** Whether the text ends between fences. */
function isInCode(text: string): boolean {
  let open: string | null = null;
  for (const line of text.split("\n")) {
    const fence = FENCE_LINE.exec(line)?.[1];
    if (fence === undefined) continue;
    if (open === null) open = fence;
    else if (fence.startsWith(open) && line.trim() === fence) open = null;
  }
  return open !== null;
}

/** A block with its emphasis and code closed, and an incomplete link as its text. */
function closed(block: string): string {
  let text = block.replace(HALF_LINK, "$1");
  const ticks = text.split("`").length - 1;
  if (ticks % 2 === 1 && !text.includes("```")) return `${text.trimEnd()}\``.replace(/``$/, "");
  const outside = text.replace(/`[^`]*`/g, "");
  for (const mark of ["**", "~~"]) {
    if (outside.split(mark).length % 2 === 1) continue;
    text = text.trimEnd();
    text = text.endsWith(mark) ? text.slice(0, -mark.length) : text + mark;
  }
  return text;
}
