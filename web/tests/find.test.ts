/** Finding words in a conversation, and what is read aloud of it. */
import { expect, test } from "vitest";
import { finding, lengthSearchedInPart, stepped } from "../src/core/conversation/find.ts";
import type { Item } from "../src/protocol/transcript.ts";
import { spoken } from "../src/view/transcript/spoken.ts";

const items = [
  { kind: "prompt", id: "a", text: "Where is the Mailbox?" },
  { kind: "tool", id: "b", title: "Bash", input: { command: "grep -r mailbox", deep: [{ x: "Here" }] }, result: "found it", summary: null },
  { kind: "text", id: "c", text: "In the mail worker." },
  { kind: "unknown", id: "d", type: "odd", text: "", data: { note: "MAILBOX" } },
] as unknown as readonly Item[];

function found(words: string, all: readonly Item[] = items): readonly string[] {
  const search = finding(all, words);
  for (;;) {
    const step = search.next();
    if (step.done) return step.value;
  }
}

test.each([
  ["mailbox", ["a", "b", "d"]], ["MAIL", ["a", "b", "c", "d"]], ["here", ["a", "b"]], ["found", ["b"]], ["nothing of it", []], ["", []],
])("%j is in %j", (words, ids) => {
  expect(found(words)).toEqual(ids);
});

test("a long conversation is looked through in steps", () => {
  const many = Array.from({ length: 1_000 }, (_, at) => ({ kind: "text", id: `i${at}`, text: `words ${at}` })) as unknown as Item[];
  const search = finding(many, "words 99");
  let steps = 0;
  while (!search.next().done) steps += 1;
  expect(steps).toBeGreaterThan(2);
  expect(found("words 99", many)).toEqual(["i99", ...Array.from({ length: 10 }, (_, at) => `i99${at}`)]);
});

test("one very long item takes a turn of its own", () => {
  const long = [{ kind: "text", id: "x", text: "word ".repeat(200_000) }, { kind: "text", id: "y", text: "word" }] as unknown as Item[];
  const search = finding(long, "word");
  expect(search.next().done).toBe(false);
  expect(search.next()).toEqual({ done: true, value: ["x", "y"] });
});

test.each([
  [{}, 0], [{ cut: {} }, 0], [{ cut: { result: 900, structured: 5_000 } }, 900], [{ cut: { structured: 5_000 } }, 0], [{ cut: { text: 1, data: 2 } }, 3],
])("of %j so much is searched in part: %i", (item, length) => {
  expect(lengthSearchedInPart(item)).toBe(length);
});

test.each([[3, 2, 1, 0], [3, 0, -1, 2], [3, 1, 1, 2], [0, -1, 1, -1]] as const)("of %i, from %i by %i is %i", (count, at, by, next) => {
  expect(stepped(count, at, by)).toBe(next);
});

test.each([
  ["success", "# Done\n\nSee **it** [here](https://x.y).\n\n```js\nlet a;\n```\n", "Answer: Done See it here. Code."],
  ["success", "", "The turn is over."],
  ["interrupted", "Half", "Answer: Half Stopped."],
  ["error", "", "The turn ended with an error."],
])("a turn that ended with %s is read aloud", (outcome, words, aloud) => {
  expect(spoken({ outcome }, words)).toBe(aloud);
});

test("not all of a long answer is read aloud", () => {
  expect(spoken({ outcome: "success" }, "word ".repeat(500)).length).toBeLessThan(700);
});
