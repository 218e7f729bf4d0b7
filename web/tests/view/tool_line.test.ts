/** The one line of a tool call: nothing hides in it, and prose of any script can be read. */
import { expect, test } from "vitest";
import { callName, shortLine } from "../../src/view/transcript/items/tool_line.ts";

test("a command's hidden letters have names, and each stands where it is stored", () => {
  expect(callName("Bash", "rm \u202efr- x\u200b", false)).toBe("Bash rm ⟨RLO⟩fr- x⟨ZWSP⟩");
  expect(callName("Вash", "ls", false)).toBe("⟨U+0412⟩ash ls");
});

test("of prose only what turns it around is shown; right-to-left words stay as they are", () => {
  expect(callName("Question", "שלום, \u2067עולם\u2069?", true)).toBe("Question שלום, \u2067עולם\u2069?");
  expect(callName("Question", "\u202eevil", true)).toBe("Question \ufffdevil");
});

test("a call without a target is called by its label", () => {
  expect(callName("Plan", "", true)).toBe("Plan");
});

test("a line holds as much as a line can, and no half of a letter", () => {
  expect(shortLine("ls -la")).toBe("ls -la");
  expect(shortLine("x".repeat(5_000))).toHaveLength(401);
  expect(shortLine(`${"x".repeat(399)}😀 and more`)).toBe(`${"x".repeat(399)}…`);
});
