import { expect, test } from "vitest";
import { memoryStore } from "../../src/core/connection/world.ts";
import { type Attached, holdFiles, heldFiles, storedFiles, tooLarge } from "../../src/view/composer/uploads.ts";

const MIB = 1024 * 1024;

test.each([
  ["image/png", 5 * MIB, ""],
  ["image/png", 5 * MIB + 1, "Images can be up to 5 MB"],
  ["text/plain", 6 * MIB, ""],
  ["application/pdf", 33 * MIB, "Files can be up to 32 MB"],
  ["text/plain", 0, "The file is empty"],
])("%s of %d bytes: %s", (type, size, problem) => {
  expect(tooLarge(type, size)).toBe(problem);
});

const file = (part: Partial<Attached>): Attached => ({
  key: 1, name: "a.png", size: 3, preview: null, state: "ready", upload: "u1", problem: "", ...part,
}); // prettier-ignore

test("files that have arrived at the server survive a reload, others do not", () => {
  const keep = memoryStore();
  holdFiles(keep, "s1", [file({}), file({ key: 2, state: "failed", upload: null }), file({ key: 3, state: "sending" })]);
  const found = storedFiles(keep.get("fairlead.files.s1"));
  expect(found.map(({ name, upload, state }) => ({ name, upload, state }))).toEqual([{ name: "a.png", upload: "u1", state: "ready" }]);
});

test("what was sent is forgotten, and sessions do not share files", () => {
  const keep = memoryStore();
  holdFiles(keep, "s2", [file({})]);
  expect(heldFiles(keep, "s2")).toHaveLength(1);
  expect(heldFiles(keep, "s3")).toEqual([]);
  holdFiles(keep, "s2", []);
  expect(keep.get("fairlead.files.s2")).toBeNull();
});

test.each(["", "{", "7", '[{"name": 1}]', "null"])("a kept text of %j is no file", (text) => {
  expect(storedFiles(text)).toEqual([]);
});
