/** What belongs to a turn, found from the end of the conversation. */
import { expect, test } from "vitest";
import type { TranscriptRow } from "../../src/core/conversation/rows.ts";
import { lastOf, textsOf } from "../../src/view/transcript/turn_items.ts";

const row = (id: string, turn: string | null, kind = "text"): TranscriptRow =>
  ({ kind: "item", id, item: { kind, id, turn, text: id } }) as unknown as TranscriptRow;
const rows = [
  row("a", "t1"), row("b", "t1", "tool"), row("note", null, "notice"), row("c", "t1"),
  { kind: "turn", id: "end-t1", turn: { id: "t1" } } as unknown as TranscriptRow,
  row("d", "t2"), row("e", "t2", "tool"),
]; // prettier-ignore

test("the words of a turn come in their order", () => {
  expect(textsOf(rows, "t1").map((item) => item.id)).toEqual(["a", "c"]);
  expect(textsOf(rows, "t2").map((item) => item.id)).toEqual(["d"]);
  expect(textsOf(rows, "t3")).toEqual([]);
});

test("its last item is the last of any kind", () => {
  expect(lastOf(rows, "t1")).toBe("c");
  expect(lastOf(rows, "t2")).toBe("e");
  expect(lastOf(rows, "t3")).toBeNull();
});
