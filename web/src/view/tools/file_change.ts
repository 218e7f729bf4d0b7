/** The cards of the tools that change a file. */
import type { ToolItem } from "../../protocol/transcript.ts";
import type { Outcome, ToolCard } from "./card.ts";
import { countLines } from "./diff_model.ts";
import { countedLines, textOf } from "./fields.ts";
import FileTool from "./FileTool.svelte";
import { shortPath } from "./generic.ts";
import { type FileChange, changeOf } from "./patches.ts";

const LONGEST_OPEN = 60;
/** Lines; longer changes wait to be opened. */

const known = new WeakMap<ToolItem, FileChange | null>();

/** Items are replaced, never changed, so what was worked out for one holds as long as it does. */
function change(item: ToolItem): FileChange | null {
  if (!item.complete) return null;
  const found = known.get(item);
  if (found !== undefined) return found;
  const made = changeOf(item.name, item.input, item.structured);
  known.set(item, made);
  return made;
}

function outcome(item: ToolItem): readonly Outcome[] {
  const made = change(item);
  if (!made || item.state === "failed" || item.state === "denied") return [];
  const { added, removed } = countLines(made.hunks);
  if (made.created) return [{ text: "new", tone: "plain" }, { text: countedLines(added, item, "structured"), tone: "ok" }];
  const both: readonly Outcome[] = [
    { text: `+${added}`, tone: "ok" },
    { text: `−${removed}`, tone: "bad" },
  ];
  return both.filter((one) => !one.text.endsWith("0") || one.text.length > 2);
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
