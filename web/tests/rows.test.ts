/** Rows that are laid out again and again are those that are laid out at once, and stay themselves. */
import { describe, expect, test } from "vitest";
import { apply, type Sections } from "../src/core/connection/apply.ts";
import type { Transcript } from "../src/core/connection/documents.ts";
import type { Waiting } from "../src/core/connection/outbox.ts";
import { layOut, Layout, type Laid } from "../src/core/conversation/rows.ts";
import type { Change } from "../src/protocol/changes.ts";

const NONE: readonly Waiting[] = [];

/** Random numbers that are the same every time. */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function randomChange(roll: (below: number) => number, state: Sections, n: number): Change {
  const items = state["items"] as readonly { id: string; kind: string }[];
  const turns = state["turns"] as readonly { id: string; outcome: string | null }[];
  const some = items[roll(items.length)]?.id ?? "";
  switch (items.length === 0 ? 0 : roll(9)) {
    case 0:
    case 1: {
      const kind = (["prompt", "text", "tool"] as const)[roll(3)];
      const parent = items.length > 0 && roll(4) === 0 ? some : null;
      const row = { id: `i${n}`, kind, turn: roll(5) === 0 ? null : `t${roll(turns.length + 1)}`, parent, text: "", state: ["held", "started", "sent"][roll(3)], uuid: `u${n}` };
      return { op: "add", to: "items", row, before: items.length > 0 && roll(5) === 0 ? some : null };
    }
    case 2:
      return { op: "remove", to: "items", id: some };
    case 3:
      return { op: "set", to: "items", id: some, fields: { state: ["held", "started", "sent"][roll(3)], turn: `t${roll(turns.length + 1)}` } };
    case 4:
      return { op: "add", to: "turns", row: { id: `t${turns.length}`, outcome: roll(2) === 0 ? "success" : null }, before: null };
    case 5:
      if (turns.length === 0) return { op: "append", to: "items", id: some, field: "text", offset: 0, text: "x" };
      return { op: "set", to: "turns", id: turns[roll(turns.length)]?.id ?? "", fields: { outcome: roll(2) === 0 ? "success" : null } };
    default:
      return { op: "append", to: "items", id: items.at(-1)?.id ?? "", field: "text", offset: 1e9, text: "word " };
  }
}

const shape = (laid: Laid) => ({ rows: laid.rows, children: [...laid.children].sort(), queued: laid.queued });

describe("a layout", () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])("is the same however it came about (%i)", (seed) => {
    const roll = dice(seed);
    const layout = new Layout();
    let state: Sections = { items: [], turns: [] };
    for (let n = 0; n < 400; n += 1) {
      state = apply(state, [randomChange(roll, state, n)]);
      const outbox: readonly Waiting[] = roll(5) === 0 ? [{ n, at: 0, intent: { kind: "send", session: "s", text: "", uuid: `u${roll(n + 5)}` } }] : NONE;
      const transcript = state as unknown as Transcript;
      expect(shape(layout.update(transcript, "s", outbox))).toEqual(shape(layOut(transcript, "s", outbox)));
    }
  });

  test("keeps the rows that did not change", () => {
    const layout = new Layout();
    const items = Array.from({ length: 500 }, (_, at) => ({ id: `i${at}`, kind: "text", turn: null, parent: null, text: "" }));
    let state: Sections = { items, turns: [] };
    const before = layout.update(state as unknown as Transcript, "s", NONE);
    state = apply(state, [{ op: "append", to: "items", id: "i499", field: "text", offset: 0, text: "new" }]);
    const after = layout.update(state as unknown as Transcript, "s", NONE);
    expect(after.rows.slice(0, -1).every((row, at) => row === before.rows[at])).toBe(true);
    expect(after.rows.at(-1)).not.toBe(before.rows.at(-1));
    expect(after.children).toBe(before.children);
    expect(after.queued).toBe(before.queued);
  });
});
