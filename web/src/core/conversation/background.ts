/** Work in the background of a session, as it is shown. Pure. */
import type { Background } from "../../protocol/transcript.ts";
import { duration } from "../time.ts";

/** The tasks that turns do not wait for. The CLI reports subagents in the foreground too. */
export function backgroundTasks(tasks: readonly Background[]): readonly Background[] {
  return tasks.filter((task) => task.backgrounded);
}

export function isRunning(task: Background): boolean {
  return task.state === "running" || task.state === "paused";
}

export interface TaskEnd {
  /** Such as `exit code 3` or `finished`. */
  readonly text: string;
  readonly tone: "ok" | "bad" | "plain";
  /** Such as `12 s`; empty if it is not known. */
  readonly took: string;
}

const ENDS: Readonly<Record<string, Omit<TaskEnd, "took">>> = {
  completed: { text: "finished", tone: "ok" },
  failed: { text: "failed", tone: "bad" },
  stopped: { text: "stopped", tone: "plain" },
  lost: { text: "ended with its process", tone: "bad" },
};

/** How a task ended; null while it runs. */
export function endOf(task: Background): TaskEnd | null {
  if (isRunning(task)) return null;
  const end = ENDS[task.state] ?? { text: "ended", tone: "plain" };
  const seconds = task.ended === null ? null : task.ended - task.started;
  const took = seconds !== null && seconds >= 0 ? duration(seconds) : "";
  if (typeof task.exit_code !== "number") return { ...end, took };
  return { text: `exit code ${task.exit_code}`, tone: task.exit_code === 0 ? "ok" : "bad", took };
}
