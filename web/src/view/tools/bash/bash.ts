/** The card of a command. */
import type { ToolItem } from "../../../protocol/transcript.ts";
import { bashOutput } from "./bash_output.ts";
import BashTool from "./BashTool.svelte";
import type { Outcome, ToolCard } from "../base/card.ts";
import { wasEdited } from "../edit/edited.ts";
import { countedLines, textOf } from "../../../core/plain.ts";
import { lineCount } from "../generic/generic.ts";

function outcome(item: ToolItem): readonly Outcome[] {
  const { exitCode, timedOut, text } = bashOutput(item);
  const edited: readonly Outcome[] = wasEdited(item) ? [{ text: "edited by you", tone: "accent" }] : [];
  if (timedOut) return [...edited, { text: "timed out", tone: "bad" }];
  if (exitCode !== null && exitCode !== 0) return [...edited, { text: `exit ${exitCode}`, tone: "bad" }];
  const lines = lineCount(text);
  if (item.state !== "done" || lines === 0) return edited;
  return [...edited, { text: countedLines(lines, item, "result", "structured"), tone: "plain" }];
}

export const bash: ToolCard = {
  icon: "terminal",
  target: (item) => textOf(item.input, "command").trim().split("\n")[0] ?? "",
  outcome,
  opens: (item) => ["failed", "running"].includes(item.state) || wasEdited(item),
  body: BashTool,
};
