/** What a minimized request is about, in one line. Pure. */
import type { PendingRow } from "../../../protocol/pending.ts";
import { textOf } from "../../../core/plain.ts";
import { dialogForm } from "../forms/dialog_model.ts";
import { questionsOf } from "../../../core/conversation/question_model.ts";
import { subjectOf } from "../permission/subject.ts";

export interface Waiting {
  readonly who: string;
  /** What the user has to do: "approval" or "answer". */
  readonly needs: "approval" | "answer";
  readonly what: string;
}

/** The summary of a request that is minimized. */
export function waitingOf(row: PendingRow): Waiting {
  const { who, needs, what } = summaryOf(row);
  return { who: row.agent ? `${who} of a subagent` : who, needs, what: what.split("\n", 1)[0] ?? "" };
}

function summaryOf(row: PendingRow): Waiting {
  switch (row.kind) {
    case "question":
      return { who: "A question", needs: "answer", what: questionsOf(row.input)[0]?.text ?? "" };
    case "plan":
      return { who: "A plan", needs: "approval", what: "No changes until you approve" };
    case "elicitation":
      return { who: textOf(row.details, "server") || "A form", needs: "answer", what: row.description ?? "" };
    case "dialog":
      return { who: "A dialog", needs: "answer", what: dialogForm(row).title };
    default:
      return { who: row.title || row.tool_name, needs: "approval", what: subjectLine(row) };
  }
}

/** The end of a long path, which says more than its beginning. */
function shortened(path: string): string {
  const parts = path.split("/");
  return parts.length > 4 ? `…/${parts.slice(-2).join("/")}` : path;
}

function subjectLine(row: PendingRow): string {
  const { target, parts, asks } = subjectOf(row.tool_name, row.title, row.input);
  const code = parts.find((part) => part.kind === "code");
  return shortened(target) || (code && "text" in code ? code.text : "") || asks;
}
