import { expect, test } from "vitest";
import { draftsOf, drawnUnder, rangeName, stateOf, type ReviewComment } from "../src/core/workbench/comments.ts";
import { fileAddress, namedFile, pathsIn } from "../src/core/conversation/file_links.ts";
import { editorAddress, foldersOf, isEditorTemplate, projectRows, projectTree } from "../src/core/workbench/project_tree.ts";
import { fileId } from "../src/view/changes/file_ids.ts";
import { codeOf, lineBlocks } from "../src/view/review/line_blocks.ts";
import { hunksBetween } from "../src/view/tools/diff/diff_model.ts";

const COMMENT: ReviewComment = {
  id: "c", version: 1, author: "Phone", own: true, foreign: false, path: "b", changed_file: "Yg", file: "Yg", side: "new",
  start: 3, end: 4, code: "x\ny", text: "why?", created: 1, prompt: null, resolved: false, lines: "same", now: 3,
};

test("U92 comments are sent in the order of their files and lines", () => {
  const comments = [
    { ...COMMENT, id: "3", path: "b", start: 9, end: 9 },
    { ...COMMENT, id: "1", path: "a" },
    { ...COMMENT, id: "2", path: "b" },
    { ...COMMENT, id: "sent", prompt: "p" },
    { ...COMMENT, id: "done", resolved: true },
  ];
  expect(draftsOf(comments).map((comment) => comment.id)).toEqual(["1", "2", "3"]);
});

test("U92 a sent comment says what became of its lines, and nothing final while the agent works", () => {
  const sent = { ...COMMENT, prompt: "p" };
  expect(stateOf(sent, true).label).toBe("Sent");
  expect(stateOf(sent, false).label).toBe("Lines not changed");
  expect(stateOf({ ...sent, lines: "changed" }, true).label).toBe("Lines changed");
  expect(stateOf({ ...sent, lines: "deleted" }, false).label).toBe("File deleted");
  expect(drawnUnder({ ...sent, now: 13 })).toBe(14);
  expect(rangeName(COMMENT)).toBe("lines 3–4");
  expect(rangeName({ side: "old", start: 2, end: 2 })).toBe("line 2 (before)");
});

const numbered = (from: number, to: number): string => Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}\n`).join("");

test("U94 gaps between hunks have the numbers of the file and are filled by what is known", () => {
  const before = numbered(1, 100);
  const after = before.replace("line 20\n", "twenty\nmore\n").replace("line 60\n", "");
  const hunks = hunksBetween(before, after);
  const gaps = (known: ReadonlyMap<number, string>, total: number | null): unknown =>
    lineBlocks(hunks, known, total).flatMap((block) => (block.kind === "gap" ? [block.gap] : []));
  expect(gaps(new Map(), null)).toEqual([{ from: 1, to: 16 }, { from: 25, to: 57 }, { from: 64, to: null }]);
  expect(gaps(new Map(), 100)).toEqual([{ from: 1, to: 16 }, { from: 25, to: 57 }, { from: 64, to: 100 }]);
  const known = new Map(after.trimEnd().split("\n").map((text, at) => [at + 1, text] as const));
  const blocks = lineBlocks(hunks, known, 100);
  expect(blocks).toHaveLength(1);
  // Filled, both versions can be rebuilt, and every line has its numbers.
  const lines = blocks.flatMap((block) => (block.kind === "lines" ? block.lines : []));
  expect(lines.filter((line) => line.kind !== "removed").map((line) => line.after)).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
  expect(lines.filter((line) => line.kind !== "added").map((line) => line.before)).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
  expect(codeOf(blocks, "new", 1, 100)).toBe(after.trimEnd());
  expect(codeOf(blocks, "old", 1, 100)).toBe(before.trimEnd());
});

test("U91 a range is commented on only if all of its lines are loaded", () => {
  const blocks = lineBlocks(hunksBetween(numbered(1, 40), numbered(1, 40).replace("line 20\n", "x\n")), new Map(), null);
  expect(codeOf(blocks, "new", 19, 20)).toBe("line 19\nx");
  expect(codeOf(blocks, "new", 10, 20)).toBeNull();
});

test("U97 the tree has folders first and shows what is in the open ones", () => {
  const tree = projectTree(["b.txt", "src/a.ts", "src/deep/c.ts", "a.txt"]);
  expect(projectRows(tree, new Set()).map((row) => row.path)).toEqual(["src/", "a.txt", "b.txt"]);
  const open = new Set(foldersOf("src/deep/c.ts"));
  expect(projectRows(tree, open).map((row) => row.path)).toEqual(["src/", "src/deep/", "src/deep/c.ts", "src/a.ts", "a.txt", "b.txt"]);
});

test("U99 only addresses that run nothing in the browser lead to an editor", () => {
  expect(editorAddress("vscode://file{path}:{line}", "/home/me/a b#.py", 3)).toBe("vscode://file/home/me/a%20b%23.py:3");
  expect(editorAddress("idea://open?file={path}&line={line}", "/x/$&/y", 1)).toBe("idea://open?file=/x/%24%26/y&line=1");
  for (const bad of ["", "javascript:alert('{path}')", "JavaScript:{path}", "data:text/html,{path}", "vscode://file", "{path}", " javascript:{path}"]) {
    expect(isEditorTemplate(bad), bad).toBe(false);
  }
});

test("U100 short texts that name a file become links, others do not", () => {
  expect(namedFile("src/app.py:42")).toEqual({ path: "src/app.py", line: 42 });
  expect(namedFile("./README.md")).toEqual({ path: "README.md", line: 0 });
  expect(namedFile("/home/me/x.rs")).toEqual({ path: "/home/me/x.rs", line: 0 });
  for (const other of ["console.log", "a/b", "../x.py", "npm run x.ts", "1.5", "and/or", "https://x.org/a.py", "x".repeat(300) + ".py", ".py", "e.g."]) {
    expect(namedFile(other), other).toBeNull();
  }
  expect(fileAddress("s-1", "src/a b.py", 4)).toBe("/s/s-1/files?path=src%2Fa%20b.py&line=4");
});

test("U100 paths in a sentence become links, other words with slashes do not", () => {
  const linked = (text: string): readonly string[] => pathsIn(text).flatMap((part) => (part.file ? [part.text] : []));
  expect(linked("I changed src/app.py:42, (web/a-b.ts) and ./docs/x.md. See app.py:7; .github/ci.yml too!")).toEqual([
    "src/app.py:42", "web/a-b.ts", "./docs/x.md", "app.py:7", ".github/ci.yml",
  ]);
  for (const text of ["either/or", "example.org/a/page.html", "https://x.org/a/b.py", "app.py", "10:30", "../up/x.py", "km/h.", "n/a", "x".repeat(9_000) + "/a.py"]) {
    expect(linked(text), text).toEqual([]);
  }
  expect(linked("src/a.py:3:7: E501 line too long")).toEqual(["src/a.py:3"]);
  expect(linked("src/a.py:42:def run(): pass")).toEqual(["src/a.py:42"]);
  const all = "a src/b.py  c\n/d/e.rs. x/y.py:1:2:z";
  expect(pathsIn(all).map((part) => part.text).join("")).toBe(all);
});

test("U91 ids of files are those of the server", () => {
  expect(fileId("src/app.py")).toBe("c3JjL2FwcC5weQ");
  expect(fileId("späth/?>")).toBe("c3DDpHRoLz8-");
});
