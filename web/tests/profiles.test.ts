import { expect, test } from "vitest";
import { profileChoices, profileLabel, shownProfile, variablesIn } from "../src/core/settings/profiles.ts";

const profiles = [{ name: "work", label: "Acme Inc." }, { name: "side", label: "" }];

test("a profile is named by its label, and only if there is more than one", () => {
  expect(profileLabel(profiles, "work")).toBe("Acme Inc.");
  expect(profileLabel(profiles, "side")).toBe("side");
  expect(shownProfile(profiles, "")).toBe("Default");
  expect(shownProfile([], "")).toBe("");
  expect(shownProfile([], "removed")).toBe("removed");
});

test("a new session can choose a profile only if there is more than one", () => {
  expect(profileChoices([])).toEqual([]);
  expect(profileChoices(profiles).map((choice) => choice.value)).toEqual(["", "work", "side"]);
});

test("a variable has a value, or keeps the stored one", () => {
  expect(variablesIn("A=1\n\n B_2=x=y \nKEPT", ["KEPT", "GONE"])).toEqual({ A: "1", B_2: "x=y", KEPT: null });
  expect(variablesIn("A=", [])).toEqual({ A: "" });
  expect(variablesIn("NEW", [])).toContain("needs a value");
  expect(variablesIn("a b=1", [])).toContain("not the name");
});
