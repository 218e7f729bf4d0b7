/**
 * Which loaded items are dropped: those far above what the user sees. They are loaded again when the
 * user scrolls up, so the page holds a bounded part of a conversation of any length that it follows.
 */
import type { TranscriptRow } from "../../core/conversation/rows.ts";

/** Rows above the visible part that stay loaded. */
export const KEPT_ROWS = 400;
/** Rows above the visible part before any are dropped; well above the others, so that this is rare. */
export const MOST_ROWS = 1_000;

/** The oldest item to keep if the row at `top` is the first that is needed; null to keep all. */
export function oldestKept(rows: readonly TranscriptRow[], top: number): string | null {
  if (top <= MOST_ROWS) return null;
  for (let at = top - KEPT_ROWS; at > 0; at -= 1) {
    const row = rows[at];
    if (row?.kind === "item") return row.item.id;
  }
  return null;
}
