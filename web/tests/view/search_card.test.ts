import { expect, test } from "vitest";
import { filesTold } from "../../src/view/tools/search/matches.ts";

test("a search that has only words says how many files it found, or nothing", () => {
  expect(filesTold("Found 1 file\ntests/test_checkout.py")).toBe(1);
  expect(filesTold("Found 12 files\na\nb")).toBe(12);
  expect(filesTold("No files found")).toBe(0);
  expect(filesTold("shop/mail.py:3:import threading")).toBeNull();
});
