/** The cards of searches: for file names and in files. */
import type { ToolItem } from "../../../protocol/transcript.ts";
import type { Outcome, ToolCard } from "../base/card.ts";
import { counted, numberOf, textOf, textsOf, fieldsOf } from "../../../core/plain.ts";
import { filesTold } from "./matches.ts";
import SearchTool from "./SearchTool.svelte";

function outcome(item: ToolItem): readonly Outcome[] {
  if (item.state !== "done") return [];
  const done = item.structured;
  const matches = numberOf(done, "numMatches");
  const lines = numberOf(done, "numLines");
  const listed = fieldsOf(done)["filenames"];
  const files = numberOf(done, "numFiles") ?? (listed === undefined ? filesTold(item.result ?? "") : textsOf(listed).length);
  if (matches !== null) return [{ text: counted(matches, "match", "matches"), tone: "plain" }];
  if (textOf(done, "mode") === "content" && lines !== null) return [{ text: counted(lines, "line"), tone: "plain" }];
  return files === null ? [] : [{ text: counted(files, "file"), tone: "plain" }];
}

export const search: ToolCard = {
  icon: "search",
  target: (item) => textOf(item.input, "pattern"),
  outcome,
  opens: (item) => item.state === "failed",
  body: SearchTool,
};
