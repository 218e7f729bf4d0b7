import { expect, test } from "vitest";
import { chordOf, keysOf, problemOf, rebound, takenBy, worksWhileTyping } from "../src/core/chords.ts";

const press = (key: string, mods = "") => ({
  key,
  ctrlKey: mods.includes("c"),
  metaKey: mods.includes("m"),
  altKey: mods.includes("a"),
  shiftKey: mods.includes("s"),
});

test("a key press is written as it is read", () => {
  expect(chordOf(press("n"))).toBe("N");
  expect(chordOf(press("N", "s"))).toBe("Shift+N");
  expect(chordOf(press("?", "s"))).toBe("?");
  expect(chordOf(press("F", "cs"))).toBe("Ctrl+Shift+F");
  expect(chordOf(press("k", "m"))).toBe("Ctrl+K");
  expect(chordOf(press("Escape"))).toBe("Escape");
  expect(chordOf(press("ArrowUp", "as"))).toBe("Alt+Shift+ArrowUp");
  expect(chordOf(press(" "))).toBe("Space");
  expect(chordOf(press("Я"))).toBe("Я");
});

test("a modifier alone is no chord", () => {
  for (const key of ["Control", "Shift", "Alt", "Meta", "Dead"]) expect(chordOf(press(key, "cs"))).toBeNull();
});

test("a chord is shown key by key, also one with a plus", () => {
  expect(keysOf("Ctrl+Shift+F")).toEqual(["Ctrl", "Shift", "F"]);
  expect(keysOf("+")).toEqual(["+"]);
  expect(keysOf("Ctrl++")).toEqual(["Ctrl", "+"]);
  expect(keysOf("Escape")).toEqual(["Esc"]);
  expect(keysOf("")).toEqual([]);
});

test("letters alone do nothing while somebody types", () => {
  expect(["N", "Shift+N", "/", "?"].some(worksWhileTyping)).toBe(false);
  expect(["Ctrl+K", "Alt+N", "Escape", "F2"].every(worksWhileTyping)).toBe(true);
});

test("keys that the browser or the fields need are refused with a reason", () => {
  expect(problemOf("Ctrl+C")).toMatch(/browser/);
  expect(problemOf("Enter")).toMatch(/buttons/);
  expect(problemOf("Shift+Tab")).toMatch(/buttons/);
  expect(problemOf("Ctrl+Enter")).toBeNull();
  expect(problemOf("B")).toBeNull();
});

const ORIGINALS = [
  { action: "new", keys: "N" },
  { action: "inbox", keys: "I" },
  { action: "panel", keys: "P" },
];

test("who has a key already is told, but never oneself", () => {
  expect(takenBy(ORIGINALS, "I", "new")?.action).toBe("inbox");
  expect(takenBy(ORIGINALS, "I", "inbox")).toBeNull();
  expect(takenBy(ORIGINALS, "X", "new")).toBeNull();
});

test("a key that is taken over is lost by the one that had it", () => {
  const once = rebound(ORIGINALS, {}, "new", "I");
  expect(once).toEqual({ new: "I", inbox: "" });
  const back = rebound(ORIGINALS, once, "inbox", "I");
  expect(back).toEqual({ new: "" });
  expect(rebound(ORIGINALS, back, "new", "N")).toEqual({});
});

test("an action may have no key, and two may have none", () => {
  const once = rebound(ORIGINALS, {}, "new", "");
  expect(rebound(ORIGINALS, once, "inbox", "")).toEqual({ new: "", inbox: "" });
});
