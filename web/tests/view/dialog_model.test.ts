import { expect, test } from "vitest";
import type { Pending } from "../../src/protocol/transcript.ts";
import { dialogForm } from "../../src/view/decisions/forms/dialog_model.ts";

const request = (kind: string, payload: unknown) => ({ kind: "dialog", details: { dialog: kind, payload } }) as unknown as Pending;

test("the dialog about another model says which, and knows its answers", () => {
  const form = dialogForm(request("refusal_fallback_prompt", { originalModel: "claude-opus-5-5", fallbackModel: "claude-haiku-4-5" }));
  expect(form.words[0]).toContain("opus 5.5 couldn't answer");
  expect(form.answers.map((one) => one.value)).toEqual(["retry_fallback", "edit_prompt", null]);
  expect(form.raw).toBeNull();
});

test.each(["a_new_kind", "toString", ""])("the dialog %j is shown as it is, and can only be closed", (kind) => {
  const form = dialogForm(request(kind, { what: 1 }));
  expect(form.raw).toEqual({ what: 1 });
  expect(form.answers.map((one) => one.value)).toEqual([null]);
});
