import { describe, expect, test } from "vitest";
import type { Item } from "../../src/protocol/transcript.ts";
import { subjectOf } from "../../src/view/decisions/permission/subject.ts";

describe("what a permission is asked for", () => {
  test("a command is shown whole, and every other field with it", () => {
    const subject = subjectOf("Bash", "Bash", { command: "ls\nrm x", description: "List", timeout: 5 });
    expect(subject.asks).toBe("Run this command?");
    expect(subject.parts).toEqual([{ kind: "code", label: "Command", text: "ls\nrm x" }]);
    expect(subject.purpose).toBe("List");
    expect(subject.rest).toEqual([["Timeout", "5"]]);
  });

  test.each(["Bash", "Read", "Write", "Edit", "MultiEdit", "NotebookEdit", "WebFetch", "Skill", "mcp__a__b"])(
    "%s hides no field that it does not know",
    (tool) => {
      const subject = subjectOf(tool, tool, { surprise: "rm -rf ~", more: { deep: 1 } });
      expect(subject.rest).toEqual([["Surprise", "rm -rf ~"], ["More", '{\n  "deep": 1\n}']]);
    },
  );

  test("a field of another kind than its name promises is shown as it is", () => {
    expect(subjectOf("Bash", "", { command: { a: 1 } }).rest).toEqual([["Command", '{\n  "a": 1\n}']]);
    expect(subjectOf("Bash", "", { command: ["rm"] }).rest).toEqual([["Command", '[\n  "rm"\n]']]);
    expect(subjectOf("MultiEdit", "", { edits: [{ old_string: "a", new_string: "b", replace_all: true }] }).rest).toHaveLength(1);
    expect(subjectOf("MultiEdit", "", { edits: [{ old_string: "a", new_string: "b" }] }).rest).toEqual([]);
    expect(subjectOf("Write", "", { file_path: 3, content: null }).rest).toEqual([["File", "3"], ["Content", "null"]]);
  });

  test("an edit is shown as its change, an MCP tool under its title", () => {
    const [part] = subjectOf("Edit", "", { file_path: "/a", old_string: "x", new_string: "y" }).parts;
    expect(part?.kind).toBe("diff");
    expect(subjectOf("mcp__calc__add", "Calc > Add", {}).asks).toBe("Use Calc > Add?");
  });

  test("fields are named in words, and switches that are off are left out", () => {
    const input = { file_path: "/a", old_string: "x", new_string: "y", replace_all: false };
    expect(subjectOf("Edit", "", input).rest).toEqual([]);
    expect(subjectOf("Edit", "", { ...input, replace_all: true }).rest).toEqual([["Replace all", "yes"]]);
    expect(subjectOf("Bash", "", { command: "ls", run_in_background: true, timeout: 120_000 }).rest).toEqual([
      ["In the background", "yes"],
      ["Timeout", "120 s"],
    ]);
    expect(subjectOf("mcp__a__b", "", { replace_all: false }).rest).toEqual([["Replace all", "false"]]);
  });

  test("an edit of a file that was read is shown with its line numbers and what is around it", () => {
    const content = Array.from({ length: 20 }, (_, at) => `line ${at + 11}`).join("\n");
    const read = {
      kind: "tool", name: "Read", state: "done", id: "r", input: { file_path: "/a" },
      structured: { type: "text", file: { filePath: "/a", content, startLine: 11, numLines: 20, totalLines: 90 } },
    } as unknown as Item; // prettier-ignore
    const edit = { file_path: "/a", old_string: "line 20", new_string: "line twenty" };
    const lines = (input: unknown) => {
      const [part] = subjectOf("Edit", "", input, [read]).parts;
      if (part?.kind !== "diff") throw new Error("no diff");
      return { numbered: part.numbered, numbers: part.hunks.flatMap((hunk) => hunk.lines.map((line) => [line.kind, line.before ?? line.after])) };
    };
    expect(lines(edit)).toEqual({
      numbered: true,
      numbers: [["same", 17], ["same", 18], ["same", 19], ["removed", 20], ["added", 20], ["same", 21], ["same", 22], ["same", 23]],
    });
    expect(lines({ ...edit, old_string: "line" }).numbered).toBe(false); // More than one place: no number is certain.
    expect(lines({ ...edit, old_string: "nowhere" }).numbered).toBe(false);
    expect(lines({ ...edit, file_path: "/b" }).numbered).toBe(false);
  });

  test("a number that a browser cannot show exactly is told", () => {
    expect(subjectOf("x", "", { id: 2 ** 60 }).inexact).toBe(true);
    expect(subjectOf("x", "", { id: 12, share: 0.5 }).inexact).toBe(false);
  });

  test("texts anywhere in the input are looked through, names too", () => {
    expect(subjectOf("x", "", { a: [{ "b\u200b": "c" }] }).texts).toEqual(["a", "b\u200b", "c"]);
  });
});
