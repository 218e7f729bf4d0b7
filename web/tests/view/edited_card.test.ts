import { expect, test } from "vitest";
import type { ToolItem } from "../../src/protocol/transcript.ts";
import { wasEdited } from "../../src/view/tools/edit/edited.ts";

const edit = (part: Partial<ToolItem>): ToolItem =>
  ({ kind: "tool", name: "Edit", input: {}, state: "done", result: "", structured: null, decision: null, ...part }) as ToolItem;

test.each([
  [true, "the CLI's own word", edit({ structured: { userModified: true } })],
  [true, "an answer of this host", edit({ decision: { edited: true } })],
  [false, "neither", edit({ structured: { userModified: false }, decision: { edited: false } })],
])("that an edit was changed before it ran is %s by %s", (expected, _, item) => {
  expect(wasEdited(item)).toBe(expected);
});
