/** The cards of the tools that change a file. */
import type { ToolItem } from "../../../protocol/transcript.ts";
import type { Outcome, ToolCard } from "../base/card.ts";
import { countLines } from "../diff/diff_model.ts";
import { wasEdited } from "./edited.ts";
import { countedLines, textOf } from "../../../core/plain.ts";
import FileTool from "./FileTool.svelte";
import { shortPath } from "../generic/generic.ts";
import { type FileChange, changeOf } from "./patches.ts";

/** Most lines of a change that is expanded at first. */
const LONGEST_OPEN = 60;

const known = new WeakMap<ToolItem, FileChange | null>();

/** Items are replaced, never changed, so a result stays valid as long as its item exists. */
function change(item: ToolItem): FileChange | null {
  if (!item.complete) return null;
  const cached = known.get(item);
  if (cached !== undefined) return cached;
  const made = changeOf(item.name, item.input, item.structured);
  known.set(item, made);
  return made;
}

function outcome(item: ToolItem): readonly Outcome[] {
  const made = change(item);
  if (!made || item.state === "failed" || item.state === "denied") return [];
  const edited: readonly Outcome[] = wasEdited(item) ? [{ text: "edited by you", tone: "accent" }] : [];
  const { added, removed } = countLines(made.hunks);
  if (made.created) return [...edited, { text: "new", tone: "plain" }, { text: countedLines(added, item, "structured"), tone: "ok" }];
  const both: readonly Outcome[] = [
    { text: `+${added}`, tone: "ok" },
    { text: `−${removed}`, tone: "bad" },
  ];
  return [...edited, ...both.filter((each) => !each.text.endsWith("0") || each.text.length > 2)];
}

function opens(item: ToolItem): boolean {
  if (item.state === "failed") return true;
  const lines = change(item)?.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0) ?? 0;
  return item.state === "done" && lines <= LONGEST_OPEN;
}

const card: ToolCard = {
  icon: "edit",
  target: (item, cwd) => shortPath(textOf(item.input, "file_path"), cwd),
  outcome,
  opens,
  body: FileTool,
};

export const edit: ToolCard = card;
export const write: ToolCard = { ...card, icon: "write" };
