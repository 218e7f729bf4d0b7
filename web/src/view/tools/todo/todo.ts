/** The cards of the model's to-do list. */
import type { ToolItem } from "../../../protocol/transcript.ts";
import type { Outcome, ToolCard } from "../base/card.ts";
import { todosOf, todoTarget } from "./todo_list.ts";
import TodoTool from "./TodoTool.svelte";

const LABELS: Readonly<Record<string, string>> = {
  TodoWrite: "To do",
  TaskCreate: "New task",
  TaskUpdate: "Task",
  TaskList: "Tasks",
  TaskGet: "Task",
};

function outcome(item: ToolItem): readonly Outcome[] {
  const all = todosOf(item);
  if (all.length < 2) return [];
  const done = all.filter((each) => each.status === "completed").length;
  return [{ text: `${done} of ${all.length} done`, tone: "plain" }];
}

export const todo: ToolCard = {
  icon: "list",
  label: (item) => LABELS[item.name] ?? item.name,
  plainTarget: true,
  target: (item, _cwd, tasks) => todoTarget(item, tasks),
  outcome,
  // The list itself is in the details; in the conversation each call is one line.
  opens: (item) => item.state === "failed",
  body: TodoTool,
};
