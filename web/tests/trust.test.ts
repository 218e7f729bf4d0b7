import { expect, test } from "vitest";
import { trustQuestion } from "../src/core/conversation/trust.ts";
import type { IntentResult } from "../src/protocol/messages.ts";

const refused = (result: IntentResult["result"], ok = false): IntentResult => ({
  type: "intent_result", n: 1, ok, result, code: "conflict", message: "look first",
});

test("a refusal for trust becomes a question with every command", () => {
  const commands = [{ file: "/p/.mcp.json", what: "server evil", command: "{}" }];
  const found = trustQuestion(refused({ check: "trust", folder: "/p", digest: "d", commands }));
  expect(found).toEqual({ folder: "/p", digest: "d", commands, remembered: null });
});

test("other refusals and successes ask nothing", () => {
  expect(trustQuestion(refused({ check: "in_use", offers: ["fork"] }))).toBeNull();
  expect(trustQuestion(refused({ check: "trust", folder: "/p" }))).toBeNull();
  expect(trustQuestion(refused({ check: "trust", folder: "/p", digest: "d", commands: [] }, true))).toBeNull();
});
