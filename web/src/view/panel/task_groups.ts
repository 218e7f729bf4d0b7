/** The model's tasks by status: those in progress first, completed ones last. Pure. */
import type { Task } from "../../protocol/transcript.ts";

export interface TaskGroup {
  readonly name: string;
  readonly label: string;
  readonly tasks: readonly Task[];
}

const GROUPS: readonly (readonly [name: string, label: string])[] = [
  ["in_progress", "In progress"],
  ["pending", "To do"],
  ["blocked", "Blocked"],
  ["completed", "Done"],
];

/** The groups with tasks, each in the model's order; an unknown status counts as to do. */
export function grouped(tasks: readonly Task[]): readonly TaskGroup[] {
  const open = new Set(tasks.filter((task) => task.status !== "completed").map((task) => task.id));
  const of = (task: Task): string => {
    if (task.status === "completed" || task.status === "in_progress") return task.status;
    return task.blocked_by.some((id) => open.has(id)) ? "blocked" : "pending";
  };
  return GROUPS.map(([name, label]) => ({ name, label, tasks: tasks.filter((task) => of(task) === name) })).filter(
    (group) => group.tasks.length > 0,
  );
}
