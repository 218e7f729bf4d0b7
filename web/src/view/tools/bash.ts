/** The card of a command. */
import type { ToolItem } from "../../protocol/messages.ts";
import { bashOutput } from "./bash_output.ts";
import BashTool from "./BashTool.svelte";
import type { Outcome, ToolCard } from "./card.ts";
import { textOf } from "./fields.ts";
import { lineCount } from "./generic.ts";

function outcome(item: ToolItem): readonly Outcome[] {
  const { exitCode, timedOut, text } = bashOutput(item);
  if (timedOut) return [{ text: "timed out", tone: "bad" }];
  if (exitCode !== null && exitCode !== 0) return [{ text: `exit ${exitCode}`, tone: "bad" }];
  const lines = lineCount(text);
  return item.state === "done" && lines > 0
    ? [{ text: lines === 1 ? "1 line" : `${lines.toLocaleString("en")} lines`, tone: "plain" }]
    : [];
}

export const bash: ToolCard = {
  icon: "terminal",
  target: (item) => textOf(item.input, "command").trim().split("\n")[0] ?? "",
  outcome,
  opens: (item) => ["failed", "running"].includes(item.state),
  body: BashTool,
};
