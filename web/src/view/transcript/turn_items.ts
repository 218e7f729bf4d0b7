/** What a turn said and did, found from the end, where most of what is asked for stands. Pure. */
import type { TranscriptRow } from "../../core/rows.ts";
import type { Item, TextItem } from "../../protocol/transcript.ts";

/** The last item of a turn. */
export function lastOf(rows: readonly TranscriptRow[], turn: string): string | null {
  for (const item of backFrom(rows, turn)) return item.id;
  return null;
}

/** The words of a turn, in order. */
export function textsOf(rows: readonly TranscriptRow[], turn: string): readonly TextItem[] {
  return [...backFrom(rows, turn)].filter((item) => item.kind === "text").reverse();
}

/** The items of a turn, the last one first. */
function* backFrom(rows: readonly TranscriptRow[], turn: string): Generator<Item> {
  for (let at = rows.length - 1, begun = false; at >= 0; at -= 1) {
    const row = rows[at];
    if (row?.kind !== "item") continue;
    if (row.item.turn === turn) yield ((begun = true), row.item);
    else if (begun && row.item.turn !== null) return;
  }
}
