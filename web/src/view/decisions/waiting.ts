/** Who waits for an answer, and for what, in one line: for where there is no room to ask. Pure. */
import type { PendingRow } from "../../protocol/pending.ts";
import { textOf } from "../tools/fields.ts";
import { dialogForm } from "./dialog_model.ts";
import { questionsOf } from "./question_model.ts";
import { subjectOf } from "./subject.ts";

export interface Waiting {
  readonly who: string;
  readonly what: string;
}

/** What a request that is put down says of itself. */
export function waitingOf(row: PendingRow): Waiting {
  const { who, what } = told(row);
  return { who: row.agent ? `${who} of a subagent` : who, what: what.split("\n", 1)[0] ?? "" };
}

function told(row: PendingRow): Waiting {
  switch (row.kind) {
    case "question":
      return { who: "A question", what: questionsOf(row.input)[0]?.text ?? "" };
    case "plan":
      return { who: "A plan", what: "Nothing is changed before you approve" };
    case "elicitation":
      return { who: textOf(row.details, "server") || "A form", what: row.description ?? "" };
    case "dialog":
      return { who: "A dialog", what: dialogForm(row).title };
    default:
      return { who: row.title || row.tool_name, what: subjectLine(row) };
  }
}

function subjectLine(row: PendingRow): string {
  const { target, parts, asks } = subjectOf(row.tool_name, row.title, row.input);
  const code = parts.find((part) => part.kind === "code");
  return target || (code && "text" in code ? code.text : "") || asks;
}
