/** The five changes, proved with what the Python side wrote. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { apply, Mismatch, type Sections } from "../src/core/connection/apply.ts";
import type { Change } from "../src/protocol/changes.ts";

const golden = fileURLToPath(new URL("../../tests/golden/transcript/", import.meta.url));
const read = (name: string): unknown => JSON.parse(readFileSync(golden + name, "utf8"));
const empty = read("empty.snapshot.json") as Sections;

const recordings = readdirSync(golden, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".changes.json"))
  .map((name) => name.slice(0, -".changes.json".length));

test("there are recordings to apply", () => {
  expect(recordings.length).toBeGreaterThan(20);
});

test.each(recordings)("the changes of %s lead to its snapshot", (name) => {
  const steps = read(`${name}.changes.json`) as { changes: Change[] }[];
  const end = steps.reduce((state, step) => apply(state, step.changes), empty);
  expect(end).toEqual(read(`${name}.snapshot.json`));
});

const before: Sections = { items: [{ id: "a", text: "one" }, { id: "b", text: "" }], status: { state: "idle" } };

test("what did not change is the same object", () => {
  const change: Change = { op: "set", to: "items", id: "b", fields: { text: "x" } };
  const after = apply(before, [change]);
  const rows = (state: Sections) => state["items"] as readonly object[];
  expect(rows(after)[0]).toBe(rows(before)[0]);
  expect(rows(after)[1]).toEqual({ id: "b", text: "x" });
  expect(rows(before)[1]).toEqual({ id: "b", text: "" });
  expect(after["status"]).toBe(before["status"]);
});

test("the same append twice does no harm", () => {
  const change: Change = { op: "append", to: "items", id: "a", field: "text", offset: 3, text: " 🎉two" };
  const once = apply(before, [change]);
  expect(apply(once, [change])).toEqual(once);
});

test.each<Change>([
  { op: "set", to: "items", id: "nobody", fields: {} },
  { op: "remove", to: "items", id: "nobody" },
  { op: "append", to: "items", id: "nobody", field: "text", offset: 0, text: "" },
  { op: "append", to: "items", id: "a", field: "id2", offset: 0, text: "" },
  { op: "add", to: "items", row: { id: "c" }, before: "nobody" },
  { op: "add", to: "status", row: { id: "c" }, before: null },
])("a change that does not fit is refused: $op $to", (change) => {
  expect(() => apply(before, [change])).toThrow(Mismatch);
});
