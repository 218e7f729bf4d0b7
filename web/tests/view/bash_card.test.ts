import { describe, expect, test } from "vitest";
import type { ToolItem } from "../../src/protocol/transcript.ts";
import { bashOutput } from "../../src/view/tools/bash/bash_output.ts";
import { askedInput, wasEdited } from "../../src/view/tools/edit/edited.ts";
import { countedLines } from "../../src/core/plain.ts";

const call = (part: Partial<ToolItem>): ToolItem =>
  ({ kind: "tool", name: "Bash", input: { command: "ls" }, state: "done", result: "", structured: null, background: null, decision: null, ...part }) as ToolItem;

describe("what a command left behind", () => {
  test("a finished one has its output and the code 0", () => {
    const item = call({ result: "a", structured: { stdout: "a\n", stderr: "", interrupted: false } });
    expect(bashOutput(item)).toMatchObject({ text: "a\n", exitCode: 0, interrupted: false });
  });

  test("a failed one has the code that the CLI writes before its output", () => {
    const item = call({ state: "failed", result: "Exit code 3\nno such file", structured: "Error: Exit code 3\nno such file" });
    expect(bashOutput(item)).toMatchObject({ text: "no such file", exitCode: 3 });
  });

  test("a time-out, an empty output and one that was too long are told apart", () => {
    expect(bashOutput(call({ state: "failed", result: "Exit code 143\nCommand timed out after 1s" })).timedOut).toBe(true);
    expect(bashOutput(call({ result: "(Bash completed with no output)" })).text).toBe("");
    const long = call({ result: "<persisted-output>\nOutput too large (106.3KB). Full output saved to: /tmp/x/out.txt\n", structured: { stdout: "1\n2\n" } });
    expect(bashOutput(long)).toMatchObject({ text: "1\n2\n", savedAt: "/tmp/x/out.txt" });
  });

  test("one that goes on in the background, or runs, has no code yet", () => {
    expect(bashOutput(call({ background: "b1", structured: { stdout: "" } })).exitCode).toBeNull();
    expect(bashOutput(call({ state: "running", result: null })).exitCode).toBeNull();
  });
});

describe("a command that was changed before it ran", () => {
  test("is known as such, and keeps what was asked for", () => {
    const item = call({ input: { command: "ls -la" }, decision: { edited: true, asked: { command: "ls" } } });
    expect(wasEdited(item)).toBe(true);
    expect(askedInput(item)).toEqual({ command: "ls" });
  });

  test("was asked for as it ran if nobody changed it", () => {
    expect(wasEdited(call({}))).toBe(false);
    expect(askedInput(call({}))).toEqual({ command: "ls" });
  });
});

test("of an output that is only here in part the lines are not all counted", () => {
  expect(countedLines(1, {}, "result")).toBe("1 line");
  expect(countedLines(1, { cut: { input: 9 } }, "result")).toBe("1 line");
  expect(countedLines(8_192, { cut: { result: 90_000 } }, "result")).toBe("8,192+ lines");
});
