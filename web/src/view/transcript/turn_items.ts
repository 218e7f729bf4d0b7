/** The items of a turn, searched from the end, because the last turns are requested most. Pure. */
import type { TranscriptRow } from "../../core/conversation/rows.ts";
import type { Item, TextItem } from "../../protocol/transcript.ts";

/** The last item of a turn. */
export function lastOf(rows: readonly TranscriptRow[], turn: string): string | null {
  for (const item of backFrom(rows, turn)) return item.id;
  return null;
}

/** The texts of a turn, in order. */
export function textsOf(rows: readonly TranscriptRow[], turn: string): readonly TextItem[] {
  return [...backFrom(rows, turn)].filter((item) => item.kind === "text").reverse();
}

/** The items of a turn, the last one first. */
function* backFrom(rows: readonly TranscriptRow[], turn: string): Generator<Item> {
  for (let at = rows.length - 1, begun = false; at >= 0; at -= 1) {
    const row = rows[at];
    if (row?.kind !== "item" && row?.kind !== "group") continue;
    for (const item of row.kind === "item" ? [row.item] : row.items.toReversed()) {
      if (item.turn === turn) yield ((begun = true), item);
      else if (begun && item.turn !== null) return;
    }
  }
}
