import { describe, expect, test } from "vitest";
import type { Settled, ToolItem } from "../../src/protocol/messages.ts";
import { bashOutput } from "../../src/view/tools/bash_output.ts";
import { askedInput, ranInput, wasEdited } from "../../src/view/tools/edited.ts";

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
  const settled = [{ id: "r1", answer: { behavior: "allow", updatedInput: { command: "ls -la" } } }] as unknown as readonly Settled[];

  test("is shown as what ran", () => {
    const item = call({ decision: { edited: true, request: "r1" } });
    expect(wasEdited(item)).toBe(true);
    expect(ranInput(item, settled)).toEqual({ command: "ls -la" });
  });

  test("keeps what was asked for", () => {
    const item = call({ input: { command: "ls -la" }, decision: { edited: true, asked: { command: "ls" } } });
    expect(askedInput(item)).toEqual({ command: "ls" });
    expect(askedInput(call({}))).toEqual({ command: "ls" });
  });

  test("is shown as what was asked for if nobody changed it, or the answer is not known", () => {
    expect(ranInput(call({ decision: { edited: false, request: "r1" } }), settled)).toEqual({ command: "ls" });
    expect(ranInput(call({ decision: { edited: true, request: "r2" } }), settled)).toEqual({ command: "ls" });
  });
});
