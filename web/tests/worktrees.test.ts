import { expect, test } from "vitest";
import { commonTitle, variantNames } from "../src/core/workbench/worktrees.ts";

test("variants of one task are named by what differs in their titles", () => {
  expect(variantNames(["Fix it (default model)", "Fix it (opus · high)"])).toEqual(["default model", "opus · high"]);
  expect(variantNames(["Fix (it) now (haiku)", "Fix (it) now (opus)"])).toEqual(["haiku", "opus"]);
});

test("titles that differ elsewhere, or have no brackets, stay whole", () => {
  expect(variantNames(["Fix it (haiku)", "Renamed (opus)"])).toEqual(["Fix it (haiku)", "Renamed (opus)"]);
  expect(variantNames(["Fix it (haiku)", "Renamed"])).toEqual(["Fix it (haiku)", "Renamed"]);
  expect(variantNames([])).toEqual([]);
  expect(commonTitle(["Fix it (haiku)", "Renamed"])).toBeNull();
  expect(commonTitle(["Fix it (haiku)", "Fix it (opus)"])).toBe("Fix it");
});
