/** The card of a file that was read. */
import type { ToolItem } from "../../protocol/transcript.ts";
import type { Outcome, ToolCard } from "./card.ts";
import { counted, fieldsOf, listOf, numberOf, textOf } from "./fields.ts";
import { shortPath } from "./generic.ts";
import ReadTool from "./ReadTool.svelte";

function outcome(item: ToolItem): readonly Outcome[] {
  const done = fieldsOf(item.structured);
  const file = fieldsOf(done["file"]);
  const said = (text: string): readonly Outcome[] => [{ text, tone: "plain" }];
  if (done["type"] === "image") return said("picture");
  if (done["type"] === "notebook") return said(counted(listOf(file["cells"]).length, "cell"));
  const [lines, all] = [numberOf(file, "numLines"), numberOf(file, "totalLines")];
  if (lines === null) return [];
  return said(all !== null && all > lines ? `${lines} of ${counted(all, "line")}` : counted(lines, "line"));
}

export const read: ToolCard = {
  icon: "file",
  target: (item, cwd) => shortPath(textOf(item.input, "file_path"), cwd),
  outcome,
  opens: (item) => item.state === "failed",
  body: ReadTool,
};
