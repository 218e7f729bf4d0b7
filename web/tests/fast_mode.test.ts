import { expect, test } from "vitest";
import { fastMode } from "../src/core/conversation/fast_mode.ts";
import type { Session } from "../src/protocol/transcript.ts";
import snapshot from "../../tests/golden/transcript/empty.snapshot.json" with { type: "json" };

const empty = snapshot.session as unknown as Session;
const told = {
  ...empty,
  model: "claude-opus-5-5",
  models: [
    { value: "opus", resolvedModel: "claude-opus-5-5", supportsFastMode: true },
    { value: "haiku", resolvedModel: "claude-haiku-5-5" },
  ],
  commands: [{ name: "fast", description: "", argumentHint: "[on|off]" }],
  fast_mode: "off",
  fast_mode_reason: "sdk_opt_in_required",
} as Session;

test("a CLI without the command has no fast mode, whatever it says of its state", () => {
  expect(fastMode(empty)).toBeNull();
  expect(fastMode({ ...told, commands: [{ name: "compact", description: "" }] })).toBeNull();
});

test("off because nobody asked is there to be switched on", () => {
  expect(fastMode(told)).toMatchObject({ on: false, usable: true });
  expect(fastMode({ ...told, fast_mode: "on", fast_mode_reason: null })).toMatchObject({ on: true, usable: true });
});

test("a reason of the CLI is told in words and cannot be switched away", () => {
  expect(fastMode({ ...told, fast_mode_reason: "disabled_by_env" })).toMatchObject({ on: false, usable: false, about: expect.stringContaining("environment") });
  expect(fastMode({ ...told, fast_mode_reason: "some_new_one" })?.about).toContain("some new one");
});

test("a model without it says so, and a pause by a limit still counts as on", () => {
  expect(fastMode({ ...told, model: "haiku" })).toMatchObject({ usable: false, about: expect.stringContaining("Not available") });
  expect(fastMode({ ...told, fast_mode: "cooldown", fast_mode_reason: null })).toMatchObject({ on: true, usable: true });
});
