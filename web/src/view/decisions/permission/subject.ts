/**
 * What a permission request is about, as parts to show: the main part first, then every other field
 * of the input except switches that are off. Also the title of the request. Pure.
 */
import type { Hunk } from "../../tools/diff/diff_model.ts";
import { fieldsOf, shownValue, textOf } from "../../../core/plain.ts";
import { fieldName, fieldWords, isDefault } from "../../../core/conversation/field_names.ts";
import type { Item } from "../../../protocol/transcript.ts";
import { hunksInside, hunksOver, knownText } from "../../tools/edit/known_file.ts";
import { askedChange } from "../../tools/edit/patches.ts";

export type Part =
  | { readonly kind: "code" | "text"; readonly label: string; readonly text: string }
  | { readonly kind: "diff"; readonly label: string; readonly hunks: readonly Hunk[]; readonly numbered: boolean };

export interface Subject {
  /** The title, in the app's own words. */
  readonly asks: string;
  /** What it is about in one line: a path or an address; empty if the parts say it. */
  readonly target: string;
  readonly parts: readonly Part[];
  /** What the model says it is for; empty if it says nothing. */
  readonly purpose: string;
  /** The fields of the input that no part shows, with their names in words. */
  readonly rest: readonly (readonly [name: string, text: string])[];
  /** Every text in it, to search for hidden characters. */
  readonly texts: readonly string[];
  /** Whether a number in it is too large for a browser to show it exactly. */
  readonly inexact: boolean;
}

interface Shape {
  readonly asks: string;
  readonly target?: string;
  readonly parts: (input: unknown, items: readonly Item[]) => readonly Part[];
  readonly shown: readonly string[];
}

const none = (): readonly Part[] => [];

const code = (name: string, label: string) => (input: unknown): readonly Part[] => [
  { kind: "code", label, text: textOf(input, name) },
];

const change = (tool: string, label: string) => (input: unknown, items: readonly Item[]): readonly Part[] => {
  const known = knownText(items, textOf(input, "file_path"));
  const inside = known && (tool === "Edit" ? hunksInside(known, input) : tool === "Write" ? hunksOver(known, textOf(input, "content")) : null);
  if (inside) return [{ kind: "diff", label, hunks: inside, numbered: true }];
  const asked = askedChange(tool, input);
  return asked ? [{ kind: "diff", label, hunks: asked.hunks, numbered: asked.numbered }] : [];
};

const SHAPES: Readonly<Record<string, Shape>> = {
  Bash: { asks: "Run this command?", parts: code("command", "Command"), shown: ["command"] },
  PowerShell: { asks: "Run this command?", parts: code("command", "Command"), shown: ["command"] },
  Monitor: { asks: "Watch this command?", parts: code("command", "Command"), shown: ["command"] },
  Read: { asks: "Read this file?", target: "file_path", parts: none, shown: ["file_path"] },
  Write: {
    asks: "Write this file?",
    target: "file_path",
    parts: change("Write", "The whole file"),
    shown: ["file_path", "content"],
  },
  Edit: {
    asks: "Make this edit?",
    target: "file_path",
    parts: change("Edit", "Change"),
    shown: ["file_path", "old_string", "new_string"],
  },
  MultiEdit: {
    asks: "Make these edits?",
    target: "file_path",
    parts: change("MultiEdit", "Changes"),
    shown: ["file_path", "edits"],
  },
  NotebookEdit: {
    asks: "Change this notebook?",
    target: "notebook_path",
    parts: code("new_source", "New source of the cell"),
    shown: ["notebook_path", "new_source"],
  },
  Glob: { asks: "List these files?", parts: code("pattern", "Pattern"), shown: ["pattern"] },
  Grep: { asks: "Search these files?", parts: code("pattern", "Pattern"), shown: ["pattern"] },
  WebFetch: { asks: "Fetch this address?", parts: code("url", "Address"), shown: ["url"] },
  WebSearch: { asks: "Search the web for this?", parts: code("query", "Words"), shown: ["query"] },
  Task: { asks: "Start this subagent?", parts: code("prompt", "Its task"), shown: ["prompt"] },
  Agent: { asks: "Start this subagent?", parts: code("prompt", "Its task"), shown: ["prompt"] },
  Skill: { asks: "Use this skill?", target: "skill", parts: none, shown: ["skill"] },
};

/** The fields that say in a sentence what a call is for. */
const PURPOSE: Readonly<Record<string, string>> = { Bash: "description", PowerShell: "description", Monitor: "description", Task: "description", Agent: "description" };

/** What a request is about; `items` is the conversation, which may show the file that it changes. */
export function subjectOf(tool: string, title: string, input: unknown, items: readonly Item[] = []): Subject {
  const shape = Object.hasOwn(SHAPES, tool) ? SHAPES[tool] : undefined;
  const fields = Object.entries(fieldsOf(input));
  // A field of another kind than its name promises is shown with the rest, as it is.
  const shown = new Set(shape?.shown.filter((name) => isDrawn(name, fieldsOf(input)[name])));
  const purpose = Object.hasOwn(PURPOSE, tool) ? textOf(input, PURPOSE[tool] ?? "") : "";
  if (purpose) shown.add(PURPOSE[tool] ?? "");
  const rest = fields
    .filter(([name, value]) => !shown.has(name) && !(shape && isDefault(name, value)))
    .map(([name, value]) => [fieldName(name), fieldWords(name, value) ?? shownValue(value)] as const);
  return {
    asks: shape?.asks ?? `Use ${ownedBy(tool, title || tool)}?`,
    target: shape?.target ? textOf(input, shape.target) : "",
    parts: shape?.parts(input, items) ?? [],
    purpose,
    rest,
    texts: allTexts(input),
    inexact: inexact(input),
  };
}

/** A title with the MCP server before it, however the server names its tool: "Small > Echo". */
function ownedBy(tool: string, title: string): string {
  const server = /^mcp__(.+?)__/.exec(tool)?.[1];
  if (server === undefined || title.includes(" > ") || title === tool) return title;
  const words = server.replaceAll(/[_-]+/g, " ");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)} > ${title}`;
}

/** The size of the input. */
export function sizeOf(texts: readonly string[]): { readonly lines: number; readonly characters: number } {
  return {
    lines: texts.reduce((sum, text) => sum + text.split("\n").length, 0),
    characters: texts.reduce((sum, text) => sum + text.length, 0),
  };
}

/** Whether a part draws the whole of a field: a text, or edits of nothing but two texts. */
function isDrawn(name: string, value: unknown): boolean {
  if (name !== "edits") return typeof value === "string";
  const plain = (edit: unknown): boolean =>
    Object.keys(fieldsOf(edit)).sort().join() === "new_string,old_string" &&
    Object.values(fieldsOf(edit)).every((value) => typeof value === "string");
  return Array.isArray(value) && value.every(plain);
}

/** Every text in a value, names of fields too. */
function allTexts(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(allTexts);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => [name, ...allTexts(part)]);
}

function inexact(value: unknown): boolean {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(inexact);
}
