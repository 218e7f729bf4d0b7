/** Which requests are no longer open, and why, in words. Pure. */
import type { PendingRow } from "../../core/documents.ts";
import type { Settled } from "../../protocol/messages.ts";

export interface Gone {
  readonly id: string;
  readonly title: string;
  readonly why: string;
}

/** What was open before and is not now. */
export function gone(
  before: readonly PendingRow[],
  now: readonly PendingRow[],
  settled: readonly Settled[],
): readonly Gone[] {
  const open = new Set(now.map((row) => row.id));
  return before
    .filter((row) => !open.has(row.id))
    .map((row) => {
      const end = settled.findLast((one) => one.id === row.id);
      return { id: row.id, title: row.title || row.tool_name, why: why(end) };
    });
}

function why(end: Settled | undefined): string {
  switch (end?.outcome) {
    case "answered":
      return end.by ? `answered by ${end.by}` : "answered elsewhere";
    case "cancelled":
      return "the agent took the question back";
    case "superseded":
      return "settled without an answer: asked anew, or decided by a rule";
    case "process_ended":
      return "the agent's process ended";
    default:
      return "no longer asked";
  }
}
