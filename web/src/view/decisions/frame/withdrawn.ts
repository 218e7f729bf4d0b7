/** Which requests are no longer open, and why, in words. Pure. */
import type { PendingRow } from "../../../protocol/pending.ts";
import type { Settled } from "../../../protocol/transcript.ts";

export interface Gone {
  readonly id: string;
  readonly title: string;
  readonly why: string;
}

const NAMES: Readonly<Record<string, string>> = {
  question: "Question",
  plan: "Plan",
  elicitation: "Form",
  dialog: "Dialog",
};

/** The requests that were open before and are not open now. */
export function gone(
  before: readonly PendingRow[],
  now: readonly PendingRow[],
  settled: readonly Settled[],
): readonly Gone[] {
  const open = new Set(now.map((row) => row.id));
  return before
    .filter((row) => !open.has(row.id))
    .map((row) => {
      const end = settled.findLast((entry) => entry.id === row.id);
      return { id: row.id, title: NAMES[row.kind] ?? (row.title || row.tool_name), why: why(end) };
    });
}

function why(end: Settled | undefined): string {
  if (end?.stopped_by) return `stopped by ${end.stopped_by}`;
  switch (end?.outcome) {
    case "answered":
      return end.by ? `answered by ${end.by}` : "answered elsewhere";
    case "cancelled":
      return "withdrawn by the agent";
    case "superseded":
      return "resolved automatically";
    case "process_ended":
      return "Claude Code exited";
    default:
      return "no longer needed";
  }
}
