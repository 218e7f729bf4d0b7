/** The card of a file that was read. */
import type { ToolItem } from "../../../protocol/transcript.ts";
import type { Outcome, ToolCard } from "../base/card.ts";
import { counted, fieldsOf, listOf, numberOf, textOf } from "../../../core/plain.ts";
import { shortPath } from "../generic/generic.ts";
import ReadTool from "./ReadTool.svelte";

function outcome(item: ToolItem): readonly Outcome[] {
  const done = fieldsOf(item.structured);
  const file = fieldsOf(done["file"]);
  const plain = (text: string): readonly Outcome[] => [{ text, tone: "plain" }];
  if (done["type"] === "image") return plain("image");
  if (done["type"] === "notebook") return plain(counted(listOf(file["cells"]).length, "cell"));
  const [lines, all] = [numberOf(file, "numLines"), numberOf(file, "totalLines")];
  if (lines === null) return [];
  return plain(all !== null && all > lines ? `${lines} of ${counted(all, "line")}` : counted(lines, "line"));
}

export const read: ToolCard = {
  icon: "file",
  target: (item, cwd) => shortPath(textOf(item.input, "file_path"), cwd),
  outcome,
  opens: (item) => item.state === "failed" || fieldsOf(item.structured)["type"] === "image" || item.images.length > 0,
  body: ReadTool,
};
