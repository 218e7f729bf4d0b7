/**
 * The open end of Markdown that grows, made so that the next letters change as little of it as they
 * can: what may become a heading, a table or a fence waits until it is one, emphasis that has begun
 * is closed, and a link that is half there is its words. Only for drawing; nothing is lost. Pure.
 */

import { readsEnd } from "./budget.ts";

/** A last line of nothing but signs, of which the next letter decides what they mean. */
const SIGNS = /(^|\n)[ \t]*(?:[-+*=#>_~|`:][-+*=#>_~|`: \t]*|\d{1,9}[.)]?)$/;

/** The first lines of what may become a table, with no line of dashes between them yet. */
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

/** Code without a last line that looks like the beginning of its end. */
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

/** A block with its emphasis and code closed, and half a link as its words. */
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
