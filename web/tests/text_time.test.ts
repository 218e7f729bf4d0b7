/** No text of a program, a model or a repository keeps the page busy: what is drawn of it takes linear time. */
import { expect, test } from "vitest";
import hljs from "highlight.js/lib/core";
import json from "highlight.js/lib/languages/json";
import { finding } from "../src/core/conversation/find.ts";
import { project } from "../src/core/sessions/sessions.ts";
import type { Item, ToolItem } from "../src/protocol/transcript.ts";
import { runsOf } from "../src/view/code/runs.ts";
import { mentionAt } from "../src/view/composer/mentions.ts";
import { planParts } from "../src/view/markdown/plan_model.ts";
import { visible, warningFor } from "../src/view/parts/visible.ts";
import { reportOf } from "../src/view/tools/agent/agent_report.ts";
import { ansiLines, withoutAnsi } from "../src/view/tools/terminal/ansi.ts";
import { segments } from "../src/view/tools/diff/diff_colors.ts";
import { countLines, hunksBetween, hunksOfPatch } from "../src/view/tools/diff/diff_model.ts";
import { askedChange } from "../src/view/tools/edit/patches.ts";
import { matchesOf } from "../src/view/tools/search/matches.ts";
import { todosOf } from "../src/view/tools/todo/todo_list.ts";
import { sourcesOf, wordsOf } from "../src/view/tools/web/sources.ts";
import { spoken } from "../src/view/transcript/spoken.ts";
import { cost, grows } from "./timing.ts";

const SIZE = 16_000;
const UNITS = [
  "a", " ", "\n", "\t", "\r", "\r\n", "a\n", "/", ":", "1:", ":1", "-1", "@", ",@", '@"', "'@", "[", "[a](", "](", "`", "```\n", "~~~",
  "\x1b", "\x1b[", "\x1b[31m", "\x1b[38;5;1m", "\x1b]", "\x1b]8;;a", "\x1bP", "\x9b", "38;", "!", "\x07", "\x00",
  "\u200b", "\u200b\u200c", "\u202e", "\u0430a", "\u0301", "\u{1d400}", "\ud800", "א", "\n \n", "\n\t", " ".repeat(23) + "a",
  "<tools-used-before-summary>", "\nagentId: ", "Links: [", "\nLinks: [", "Full output saved to: ",
]; // prettier-ignore
const HEADS = ["\x1b[", "\x1b[38;", "\x1b]", "[", "```\n", "a:"];
const AFTER = ["a", "!", "0;", "38;", "\n", "1"];
const TAILS = ['"', "\0b"];

function* texts(): Generator<(size: number) => string> {
  for (const unit of UNITS) for (const tail of TAILS) yield (size) => unit.repeat(size / unit.length) + tail;
  for (const head of HEADS) for (const unit of AFTER) yield (size) => `${head}${unit.repeat(size / unit.length)}\0`;
}

const item = (name: string, input: unknown): ToolItem => ({ kind: "tool", name, input, structured: null, result: null, title: "", summary: null }) as unknown as ToolItem;

const DRAWINGS: Readonly<Record<string, (text: string) => unknown>> = {
  "a terminal's text": (text) => [ansiLines(text), withoutAnsi(text)],
  "one that shows what is hidden": (text) => [visible(text), warningFor([text])],
  "a mention": (text) => mentionAt(text, text.length),
  "a report of a subagent": (text) => reportOf(null, text),
  "an answer that is read aloud": (text) => spoken({ outcome: "success" }, text),
  "matches of a search": (text) => matchesOf(text),
  "sources of a page": (text) => [sourcesOf(null, text), wordsOf(null, text)],
  "a folder": (text) => project(text),
  "a plan": (text) => planParts(text),
  "words that are looked for": (text) => [...finding([{ kind: "text", id: "a", text } as Item], "ab")],
  "a list of things to do": (text) => todosOf(item("TodoWrite", { todos: text.split("").slice(0, 4_000).map((content) => ({ content })) })),
  "a new file": (text) => countLines(askedChange("Write", { file_path: "a", content: text })?.hunks ?? []),
  "colors of a line": (text) => segments([{ text, changed: false }], [...text].map((letter) => [letter, "a"] as const)),
};

test.each(Object.entries(DRAWINGS))("%s is made in linear time", (_name, draw) => {
  const bad: string[] = [];
  for (const text of texts()) {
    const problem = grows(draw, text, SIZE);
    if (problem !== null) bad.push(problem);
    if (bad.length === 3) break;
  }
  expect(bad).toEqual([]);
}, 120_000);

const numbers = (count: number, from: number): string => Array.from({ length: count }, (_none, at) => `${(at * 7919 + from) % 100_003} ${at}\n`).join("");

test("texts that have nothing in common are compared for a short time, and the change says so", () => {
  const [before, after] = [numbers(20_000, 1), numbers(20_000, 50_000)];
  expect(cost(() => void hunksBetween(before, after, true), 1)).toBeLessThan(2_000);
  const hunks = hunksBetween(before, after, true);
  expect(hunks.map((hunk) => hunk.unlike)).toEqual([true]);
  expect(countLines(hunks)).toEqual({ added: 20_000, removed: 20_000 });
}, 60_000);

test("many parts of one change share their time", () => {
  const words = (from: number): string => Array.from({ length: 400 }, (_none, at) => `${String.fromCharCode(97 + ((at * from) % 26))}${(at * from) % 97}`).join(" ");
  const edits = Array.from({ length: 300 }, (_none, at) => ({ old_string: `${words(at + 3)}\n`.repeat(20), new_string: `${words(at + 8)}\n`.repeat(20) }));
  expect(cost(() => void askedChange("MultiEdit", { file_path: "a", edits }), 1)).toBeLessThan(2_000);
  const lines = edits.flatMap((edit) => [...edit.old_string.trimEnd().split("\n").map((line) => `-${line}`), ...edit.new_string.trimEnd().split("\n").map((line) => `+${line}`), " a"]);
  expect(cost(() => void hunksOfPatch([{ oldStart: 1, newStart: 1, lines }]), 1)).toBeLessThan(2_000);
  expect(countLines(askedChange("MultiEdit", { file_path: "a", edits })?.hunks ?? []).added).toBe(6_000);
}, 60_000);

test("what hides is drawn with few nodes, and all of it is there", () => {
  const { runs, hidden } = visible("a\u200b".repeat(64_000));
  expect(hidden).toBe(64_000);
  expect(runs.length).toBeLessThan(2_010);
  expect(runs.at(-1)?.shown.endsWith("a⟨ZWSP⟩")).toBe(true);
  expect(runs.map((run) => run.shown).join("")).toHaveLength(64_000 * "aZWSP".length + 2 * 63_000);
}, 60_000);

test("a line of very many colors has none, and keeps its text", () => {
  hljs.registerLanguage("json", json);
  const code = `{"a": [${"1,".repeat(5_000)}1],\n"b": 2}`;
  const lines = runsOf(hljs.highlight(code, { language: "json" }).value);
  expect(lines.map((line) => line.map(([text]) => text).join("")).join("\n")).toBe(code);
  expect(lines[0]).toHaveLength(1);
  expect(lines[1]?.length).toBeGreaterThan(3);
}, 60_000);
