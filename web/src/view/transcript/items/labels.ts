/** The name of a row of the conversation for a screen reader. Pure. */
import { groupWords } from "../../../core/conversation/folding.ts";
import type { TranscriptRow } from "../../../core/conversation/rows.ts";
import { visibleText } from "../../parts/visible.ts";

const NAMES: Readonly<Record<string, string>> = {
  prompt: "You",
  text: "Answer",
  thinking: "Thinking",
  command: "Output of a command",
  notice: "Notice",
  unknown: "Unknown message",
};

/** The name of a row. */
export function labelOf(row: TranscriptRow): string {
  if (row.kind === "turn") return "End of the turn";
  if (row.kind === "unsent") return "You, not sent yet";
  if (row.kind === "group") return groupWords(row);
  const { item } = row;
  if (item.kind === "tool") return visibleText(item.title || item.name);
  return NAMES[item.kind] ?? item.kind;
}

/** `14:05`, or with its day if that is not today. */
export function timeOf(at: number, now: number): string {
  const [then, today] = [new Date(at * 1000), new Date(now * 1000)];
  const time = then.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  if (then.toDateString() === today.toDateString()) return time;
  return `${then.toLocaleDateString([], { day: "numeric", month: "short" })}, ${time}`;
}
