/** What stands in the one line of a tool call, and how it is called aloud. Pure. */
import { pieceEnd } from "../../core/pieces.ts";
import { shownDirection } from "../markdown/text.ts";
import { visibleText } from "../parts/visible.ts";

/** Letters; no line is so wide, and a command may have a megabyte. */
const LONGEST = 400;

/** As much of a text as a line can hold, with no letter cut in two. */
export function shortLine(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, pieceEnd(text, 0, LONGEST))}…`;
}

/**
 * The name of a call. In words that are read as prose only what turns the line around is shown;
 * in a command or a path nothing may hide, and each letter stands where it is stored.
 */
export function callName(label: string, target: string, prose: boolean): string {
  return `${visibleText(label)} ${prose ? shownDirection(target) : visibleText(target)}`.trim();
}
