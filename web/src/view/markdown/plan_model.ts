/**
 * A plan to approve: where its text is, its parts with their line numbers, and the comments on them
 * as one message to the model. Pure.
 */
import { blockTokens } from "./inline.ts";
import type { Item } from "../../protocol/transcript.ts";
import { fieldsOf, textOf } from "../../core/plain.ts";

/** A part of a plan that can be commented on: a paragraph, an entry of a list, a block of code. */
export interface PlanPart {
  readonly text: string;
  readonly first: number;
  readonly last: number;
}

const PLAN_FILE = /\/\.claude\/plans\/[^/]+\.md$/;
/** Most characters of a line that are quoted; enough to identify it. */
const QUOTED = 90;

/**
 * The text of the plan: in the request itself; or, in newer CLIs, which strip it there (CLI-407),
 * in the call it is about; or in the plan file written last.
 */
export function planText(input: unknown, items: readonly Item[], call: string | null = null): string {
  const about = items.find((item) => item.id === call);
  const inside = textOf(input, "plan") || (about?.kind === "tool" ? textOf(about.input, "plan") : "");
  if (inside !== "") return inside;
  for (const item of items.toReversed()) {
    if (item.kind !== "tool" || !PLAN_FILE.test(textOf(item.input, "file_path"))) continue;
    const text = writtenText(item.name, item.input, item.structured);
    if (text !== "") return text;
  }
  return "";
}

/** The parts of a plan, in order; together they hold every line that is not blank. */
export function planParts(plan: string): readonly PlanPart[] {
  const parts: PlanPart[] = [];
  let line = 1;
  const add = (raw: string): void => {
    const lines = raw.slice(0, lengthWithoutBreaks(raw)).split("\n").length;
    const blank = raw.length - raw.trimStart().length;
    const skipped = raw.slice(0, blank).split("\n").length - 1;
    if (raw.trim() !== "") {
      parts.push({ text: raw.trimEnd().slice(lineStart(raw, blank)), first: line + skipped, last: line + lines - 1 });
    }
    line += raw.split("\n").length - 1;
  };
  for (const token of blockTokens(plan, { gfm: true })) {
    const items = token.type === "list" ? (token as { items: { raw: string }[] }).items : null;
    const whole = items?.map((item) => item.raw).join("") ?? "";
    if (items && token.raw.startsWith(whole)) {
      for (const item of items) add(item.raw);
      line += token.raw.slice(whole.length).split("\n").length - 1;
    } else add(token.raw);
  }
  return parts;
}

/** Comments by the number of the part, and a general comment, as one message to the model. */
export function rejection(
  parts: readonly PlanPart[],
  comments: ReadonlyMap<number, string>,
  words: string,
): string {
  const remarks = parts.flatMap((part, at) => {
    const comment = comments.get(at)?.trim();
    return comment ? [`On ${lineNames(part)} ("${quote(part.text)}"): ${comment}`] : [];
  });
  return [words.trim(), ...remarks].filter(Boolean).join("\n\n");
}

/** `line 3`, `lines 3-7`. */
export function lineNames(part: PlanPart): string {
  return part.first === part.last ? `line ${part.first}` : `lines ${part.first}-${part.last}`;
}

function lineStart(raw: string, blank: number): number {
  return raw.lastIndexOf("\n", blank - 1) + 1;
}

function quote(text: string): string {
  const line = text.trim().split("\n")[0] ?? "";
  return line.length > QUOTED ? `${line.slice(0, QUOTED)}…` : line;
}

function writtenText(tool: string, input: unknown, structured: unknown): string {
  if (tool === "Write") return textOf(input, "content");
  if (tool !== "Edit") return "";
  const before = textOf(structured, "originalFile");
  const [old, now] = [textOf(input, "old_string"), textOf(input, "new_string")];
  const everywhere = fieldsOf(input)["replace_all"] === true;
  return everywhere ? before.replaceAll(old, () => now) : before.replace(old, () => now);
}

/** Where the line breaks at the end begin; a pattern would try each break of the text. */
function lengthWithoutBreaks(text: string): number {
  let end = text.length;
  while (text.charAt(end - 1) === "\n") end -= 1;
  return end;
}
