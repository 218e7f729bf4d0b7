import { describe, expect, test } from "vitest";
import { subjectOf } from "../../src/view/decisions/subject.ts";

describe("what a permission is asked for", () => {
  test("a command is shown whole, and every other field with it", () => {
    const subject = subjectOf("Bash", "Bash", { command: "ls\nrm x", description: "List", timeout: 5 });
    expect(subject.asks).toBe("Run this command?");
    expect(subject.parts).toEqual([{ kind: "code", label: "Command", text: "ls\nrm x" }]);
    expect(subject.rest).toEqual([["description", "List"], ["timeout", "5"]]);
  });

  test.each(["Bash", "Read", "Write", "Edit", "MultiEdit", "NotebookEdit", "WebFetch", "Skill", "mcp__a__b"])(
    "%s hides no field that it does not know",
    (tool) => {
      const subject = subjectOf(tool, tool, { surprise: "rm -rf ~", more: { deep: 1 } });
      expect(subject.rest).toEqual([["surprise", "rm -rf ~"], ["more", '{\n  "deep": 1\n}']]);
    },
  );

  test("a field of another kind than its name promises is shown as it is", () => {
    expect(subjectOf("Bash", "", { command: { a: 1 } }).rest).toEqual([["command", '{\n  "a": 1\n}']]);
    expect(subjectOf("Bash", "", { command: ["rm"] }).rest).toEqual([["command", '[\n  "rm"\n]']]);
    expect(subjectOf("MultiEdit", "", { edits: [{ old_string: "a", new_string: "b", replace_all: true }] }).rest).toHaveLength(1);
    expect(subjectOf("MultiEdit", "", { edits: [{ old_string: "a", new_string: "b" }] }).rest).toEqual([]);
    expect(subjectOf("Write", "", { file_path: 3, content: null }).rest).toEqual([["file_path", "3"], ["content", "null"]]);
  });

  test("an edit is shown as its change, an MCP tool under its title", () => {
    const [part] = subjectOf("Edit", "", { file_path: "/a", old_string: "x", new_string: "y" }).parts;
    expect(part?.kind).toBe("diff");
    expect(subjectOf("mcp__calc__add", "Calc > Add", {}).asks).toBe("Use Calc > Add?");
  });

  test("a number that a browser cannot show exactly is told", () => {
    expect(subjectOf("x", "", { id: 2 ** 60 }).inexact).toBe(true);
    expect(subjectOf("x", "", { id: 12, share: 0.5 }).inexact).toBe(false);
  });

  test("texts anywhere in the input are looked through, names too", () => {
    expect(subjectOf("x", "", { a: [{ "b\u200b": "c" }] }).texts).toEqual(["a", "b\u200b", "c"]);
  });
});
