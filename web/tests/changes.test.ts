import { describe, expect, test } from "vitest";
import { lineTotals, treeRows, type ChangedFile } from "../src/core/workbench/changes.ts";
import { editedFiles, lastTurn } from "../src/view/changes/edited_files.ts";
import { pathOf, routeOf, sessionOf } from "../src/core/routes.ts";
import type { Item } from "../src/protocol/transcript.ts";

function file(path: string, added = 1, removed = 0): ChangedFile {
  return { id: path, path, kind: "modified", added, removed };
}

const names = (files: readonly ChangedFile[], closed: readonly string[] = []): readonly string[] =>
  treeRows(files, new Set(closed)).map((row) => `${"  ".repeat(row.depth)}${row.name}`);

describe("the tree of changed files", () => {
  test("puts files into their folders and joins folders with a single child", () => {
    const files = [file("README.md"), file("src/deep/down/a.ts"), file("src/deep/down/b.ts"), file("src/deep/c.ts")];
    expect(names(files)).toEqual(["src/deep", "  down", "    a.ts", "    b.ts", "  c.ts", "README.md"]);
    expect(names(files, ["src/deep/down/"])).toEqual(["src/deep", "  down", "  c.ts", "README.md"]);
    expect(names(files, ["src/deep/"])).toEqual(["src/deep", "README.md"]);
  });

  test("sums the lines of a folder, folded or not", () => {
    const files = [file("a/x", 3, 1), file("a/y", 4, 2)];
    for (const closed of [new Set<string>(), new Set(["a/"])]) {
      const [row] = treeRows(files, closed);
      expect(row).toMatchObject({ name: "a", added: 7, removed: 3, count: 2 });
    }
    expect(lineTotals(files)).toEqual({ added: 7, removed: 3 });
  });

  test("gives every row its own key, also for names that look like folders", () => {
    const files = [file("a"), file("b/a"), file("b/b"), file("new/"), file("__proto__/x"), file("constructor")];
    const keys = treeRows(files, new Set()).map((row) => row.key);
    expect(new Set(keys).size).toBe(keys.length);
    expect(names(files)).toContain("new/");
  });

  test("takes 2,000 files in linear time", () => {
    const files = Array.from({ length: 2_000 }, (_, at) => file(`src/p${at % 40}/f${at}.ts`));
    expect(treeRows(files, new Set()).length).toBe(2_041);
  });
});

describe("the edits of a conversation", () => {
  const call = (id: string, path: string, before: string, after: string): Item =>
    ({ kind: "tool", id, name: "Edit", state: "done", input: { file_path: path, old_string: before, new_string: after }, structured: null }) as unknown as Item;
  const prompt = { kind: "prompt", id: "p", text: "go" } as unknown as Item;

  test("are grouped by file, and the last turn begins with the last prompt", () => {
    const items = [prompt, call("1", "/p/a", "x", "y"), { ...prompt, id: "q" }, call("2", "/p/a", "y", "z"), call("3", "/p/b", "1", "2")];
    expect(editedFiles(items, "/p").map((one) => [one.file.path, one.file.added, one.file.removed])).toEqual([
      ["a", 2, 2],
      ["b", 1, 1],
    ]);
    expect(editedFiles(lastTurn(items), "/p").map((one) => [one.file.path, one.file.added])).toEqual([
      ["a", 1],
      ["b", 1],
    ]);
  });
});

test("the address of the page keeps the base and the file", () => {
  const route = routeOf("/s/abc-1/changes", "?since=branch&branch=main&file=YQ");
  expect(route).toEqual({ page: "changes", id: "abc-1", query: "since=branch&branch=main&file=YQ" });
  expect(pathOf(route)).toBe("/s/abc-1/changes?since=branch&branch=main&file=YQ");
  expect(sessionOf(route)).toBe("abc-1");
});
