/** The list of things to do that a call of a task tool shows or changes. Pure. */
import type { ToolItem } from "../../protocol/messages.ts";
import { fieldsOf, listOf, textOf, textsOf } from "./fields.ts";

export interface Todo {
  readonly id: string;
  readonly text: string;
  readonly status: "pending" | "in_progress" | "completed" | "deleted";
  readonly about: string;
  readonly owner: string;
  readonly blockedBy: readonly string[];
}

const STATES = ["pending", "in_progress", "completed", "deleted"] as const;

/** The entries that a call is about. */
export function todosOf(item: ToolItem): readonly Todo[] {
  const input = fieldsOf(item.input);
  const done = fieldsOf(item.structured);
  if (item.name === "TodoWrite") return listOf(input["todos"]).map(todo);
  if (Array.isArray(done["tasks"])) return listOf(done["tasks"]).map(todo);
  if (item.name === "TaskUpdate") return [updated(input)];
  const task = fieldsOf(done["task"]);
  return [todo({ ...input, ...task })].filter((one) => one.text !== "" || one.id !== "");
}

/** What happened, in a few words. */
export function todoTarget(item: ToolItem): string {
  const id = textOf(item.input, "taskId");
  const status = textOf(item.input, "status");
  if (item.name === "TaskUpdate") return `#${id}${status ? ` ${status.replaceAll("_", " ")}` : ""}`;
  if (item.name === "TaskCreate") return textOf(item.input, "subject");
  if (item.name === "TaskGet") return `#${id}`;
  const all = todosOf(item);
  const now = all.find((one) => one.status === "in_progress");
  return now?.text ?? "";
}

function todo(value: unknown): Todo {
  const status = STATES.find((one) => one === textOf(value, "status")) ?? "pending";
  const active = status === "in_progress" ? textOf(value, "activeForm") : "";
  return {
    id: textOf(value, "id") || textOf(value, "taskId"),
    text: active || textOf(value, "content") || textOf(value, "subject"),
    status,
    about: textOf(value, "description"),
    owner: textOf(value, "owner"),
    blockedBy: [...textsOf(fieldsOf(value)["blockedBy"]), ...textsOf(fieldsOf(value)["addBlockedBy"])],
  };
}

function updated(input: Readonly<Record<string, unknown>>): Todo {
  const entry = todo(input);
  return { ...entry, text: entry.text || `Task ${entry.id}` };
}
