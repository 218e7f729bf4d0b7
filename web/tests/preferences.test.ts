import { expect, test } from "vitest";
import { DEFAULTS, readPreferences } from "../src/core/settings/preferences.ts";

test("what was kept comes back", () => {
  const kept = { ...DEFAULTS, theme: "dark", sound: true, keys: { new: "B" }, newSession: { cwd: "/x", model: "opus", mode: "plan", effort: "high" } };
  expect(readPreferences(JSON.stringify(kept))).toEqual(kept);
});

test.each([null, "", "{half", "[]", "7", '"text"'])("%j is as good as nothing", (text) => {
  expect(readPreferences(text)).toEqual(DEFAULTS);
});

test("a value that means nothing is the default, and the others stay", () => {
  const read = readPreferences('{"theme":"pink","textSize":"large","enterSends":"yes","keys":{"new":7,"inbox":"B"},"newSession":5,"later":1}');
  expect(read).toEqual({ ...DEFAULTS, textSize: "large", keys: { inbox: "B" } });
});
