import { expect, test } from "vitest";
import { Drafts } from "../src/core/conversation/drafts.ts";
import type { TextStore, World } from "../src/core/connection/world.ts";

/** Drafts on a clock that stands still, and what the server was told. */
function drafts(): { drafts: Drafts; told: string[]; ring: () => void } {
  const kept = new Map<string, string>();
  const keep: TextStore = {
    get: (name) => kept.get(name) ?? null,
    set: (name, value) => void kept.set(name, value),
    remove: (name) => void kept.delete(name),
  };
  const alarms = new Set<() => void>();
  const after = (_: number, act: () => void) => {
    alarms.add(act);
    return { cancel: () => void alarms.delete(act) };
  };
  const told: string[] = [];
  const made = new Drafts(keep, { after } as World, (session, text) => void told.push(`${session}: ${text}`));
  return { drafts: made, told, ring: () => alarms.forEach((act) => act()) };
}

test("the server is told a little later, and only the last of what was typed", () => {
  const { drafts: some, told, ring } = drafts();
  some.write("a", "h");
  some.write("a", "hi");
  expect([told, some.read("a")]).toEqual([[], "hi"]);
  ring();
  expect(told).toEqual(["a: hi"]);
});

test("a page that goes away tells at once what the server does not know, and tells it once", () => {
  const { drafts: some, told, ring } = drafts();
  some.write("a", "hi");
  some.write("b", "ho");
  some.flush();
  expect(told).toEqual(["a: hi", "b: ho"]);
  some.flush();
  ring();
  expect(told).toEqual(["a: hi", "b: ho"]);
});
