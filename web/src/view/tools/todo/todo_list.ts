/** The to-do list that a call of a task tool shows or changes. Pure. */
import type { Task, ToolItem } from "../../../protocol/transcript.ts";
import { fieldsOf, listOf, textOf, textsOf } from "../../../core/plain.ts";

export interface Todo {
  readonly id: string;
  readonly text: string;
  readonly status: "pending" | "in_progress" | "completed" | "deleted";
  readonly about: string;
  readonly owner: string;
  readonly blockedBy: readonly string[];
}

const STATES = ["pending", "in_progress", "completed", "deleted"] as const;

/** The entries that a call is about; `known` is the current list, for what the call does not contain. */
export function todosOf(item: ToolItem, known: readonly Task[] = []): readonly Todo[] {
  const input = fieldsOf(item.input);
  const done = fieldsOf(item.structured);
  if (item.name === "TodoWrite") return listOf(input["todos"]).map(todo);
  if (Array.isArray(done["tasks"])) return listOf(done["tasks"]).map(todo);
  if (item.name === "TaskUpdate") return [updated(input, known)];
  const task = fieldsOf(done["task"]);
  return [todo({ ...input, ...task })].filter((each) => each.text !== "" || each.id !== "");
}

/** What happened, in a few words: `#3 Write the tests: completed`. */
export function todoTarget(item: ToolItem, known: () => readonly Task[]): string {
  if (item.name === "TaskCreate") return textOf(item.input, "subject");
  if (item.name === "TaskUpdate" || item.name === "TaskGet") {
    const status = item.name === "TaskUpdate" ? textOf(item.input, "status").replaceAll("_", " ") : "";
    const name = subjectOf(item, known());
    const task = `#${textOf(item.input, "taskId")}${name && ` ${name}`}`;
    return status ? `${task}${name && ":"} ${status}` : task;
  }
  const all = todosOf(item);
  const now = all.find((each) => each.status === "in_progress");
  return now?.text ?? "";
}

function todo(value: unknown): Todo {
  const status = STATES.find((state) => state === textOf(value, "status")) ?? "pending";
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

/** The name of a task according to the call, otherwise its current name; empty if unknown. */
function subjectOf(item: ToolItem, known: readonly Task[]): string {
  return textOf(item.input, "subject") || textOf(fieldsOf(item.structured)["task"], "subject") || nameIn(known, textOf(item.input, "taskId"));
}

function nameIn(known: readonly Task[], id: string): string {
  return known.find((task) => task.id === id)?.subject ?? "";
}

function updated(input: Readonly<Record<string, unknown>>, known: readonly Task[]): Todo {
  const entry = todo(input);
  return { ...entry, text: entry.text || nameIn(known, entry.id) || `Task ${entry.id}` };
}
