import { describe, expect, test } from "vitest";
import { planParts, planText, rejection } from "../../src/view/markdown/plan_model.ts";
import type { Item } from "../../src/protocol/transcript.ts";

const PLAN = "# Plan\n\nFirst some words\non two lines.\n\n1. do it\n2. test it\n   - with care\n3. ship\n\n```sh\nmake\n```\n\nEnd.";

const call = (name: string, input: unknown, structured: unknown = null): Item =>
  ({ kind: "tool", id: name, name, input, structured }) as Item;

describe("a plan", () => {
  test("is cut into parts that know their lines, lists into their entries", () => {
    expect(planParts(PLAN).map((part) => [part.first, part.last, part.text])).toEqual([
      [1, 1, "# Plan"], [3, 4, "First some words\non two lines."], [6, 6, "1. do it"],
      [7, 8, "2. test it\n   - with care"], [9, 9, "3. ship"], [11, 13, "```sh\nmake\n```"], [15, 15, "End."],
    ]);
  });

  test("loses no line that is not blank", () => {
    const lines = PLAN.split("\n");
    for (const part of planParts(PLAN)) {
      expect(part.text).toBe(lines.slice(part.first - 1, part.last).join("\n"));
    }
  });

  test("is found in the request, else in the plan file that was written last", () => {
    const path = "/home/me/.claude/plans/a-b.md";
    const items = [
      call("Write", { file_path: path, content: "# One\n" }),
      call("Write", { file_path: "/tmp/x.md", content: "no" }),
      call("Edit", { file_path: path, old_string: "One", new_string: "Two $&" }, { originalFile: "# One\n" }),
    ];
    expect(planText({ plan: "here" }, items)).toBe("here");
    expect(planText({}, items.slice(0, 2))).toBe("# One\n");
    expect(planText({}, items)).toBe("# Two $&\n");
    expect(planText({}, [])).toBe("");
    expect(planText({}, [call("ExitPlanMode", { plan: "in the call" })], "ExitPlanMode")).toBe("in the call");
  });

  test("is rejected with the words about it and the comments on its lines", () => {
    const parts = planParts(PLAN);
    expect(rejection(parts, new Map([[3, "no need"], [2, " "]]), " Shorter. ")).toBe(
      'Shorter.\n\nOn lines 7-8 ("2. test it"): no need',
    );
    expect(rejection(parts, new Map(), "")).toBe("");
  });
});
