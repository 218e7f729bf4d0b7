/** The card for any tool without its own card: the input and the result as they are. */
import type { ToolItem } from "../../../protocol/transcript.ts";
import type { Outcome, ToolCard } from "../base/card.ts";
import { countedLines } from "../../../core/plain.ts";
import GenericTool from "./GenericTool.svelte";

const TELLING = [
  "file_path", "path", "notebook_path", "command", "pattern", "query", "url", "description",
  "subject", "skill", "name", "prompt",
] as const; // prettier-ignore
/** Fields that say what a call is about, the most telling first. */

/** The most telling text of an input. */
export function telling(input: unknown): string {
  if (typeof input !== "object" || input === null) return "";
  const fields = input as Readonly<Record<string, unknown>>;
  for (const name of TELLING) {
    const value = fields[name];
    if (typeof value === "string" && value !== "") return value;
  }
  const text = Object.values(fields).find((value) => typeof value === "string" && value !== "");
  return typeof text === "string" ? text : "";
}

/** A path below the session's folder without that folder. */
export function shortPath(path: string, cwd: string | null): string {
  if (cwd && path.startsWith(cwd.endsWith("/") ? cwd : `${cwd}/`)) {
    return path.slice(cwd.length).replace(/^\/+/, "");
  }
  return path;
}

/** How many lines a text has. */
export function lineCount(text: string): number {
  if (text === "") return 0;
  return text.replace(/\n$/, "").split("\n").length;
}

function outcome(item: ToolItem): readonly Outcome[] {
  if (item.state !== "done" || item.result === null) return [];
  const lines = lineCount(item.result);
  return lines > 1 ? [{ text: countedLines(lines, item, "result"), tone: "plain" }] : [];
}

export const generic: ToolCard = {
  icon: "tool",
  target: (item, cwd) => shortPath(telling(item.input).split("\n")[0] ?? "", cwd),
  outcome,
  opens: (item) => item.state === "failed",
  body: GenericTool,
};
