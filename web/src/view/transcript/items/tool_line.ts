/** The text of the line of a tool call, and its accessible name. Pure. */
import { pieceEnd } from "../../../core/conversation/pieces.ts";
import { shownDirection } from "../../parts/text.ts";
import { visibleText } from "../../parts/visible.ts";

/** Characters; no line is wider, and a command may have a megabyte. */
const LONGEST = 400;

/** The beginning of a text that fits a line, without splitting a character. */
export function shortLine(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, pieceEnd(text, 0, LONGEST))}…`;
}

/**
 * The name of a call. In prose, only direction-changing characters are made visible; in a command or
 * a path, every hidden character is visible, and the characters are in their stored order.
 */
export function callName(label: string, target: string, prose: boolean): string {
  return `${visibleText(label)} ${prose ? shownDirection(target) : visibleText(target)}`.trim();
}
