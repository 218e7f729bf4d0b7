import { expect, test } from "vitest";
import type { Task } from "../../src/protocol/transcript.ts";
import { grouped } from "../../src/view/panel/task_groups.ts";

function task(id: string, status: string, blocked_by: readonly string[] = []): Task {
  return { id, subject: id, status, active_form: null, description: null, owner: null, blocks: [], blocked_by, source: "task" };
}

test("tasks stand by how they are: in progress, to do, blocked, done", () => {
  const tasks = [task("a", "completed"), task("b", "pending"), task("c", "in_progress"), task("d", "pending", ["c"]), task("e", "pending", ["a"])];
  expect(grouped(tasks).map((group) => [group.name, group.tasks.map((one) => one.id)])).toEqual([
    ["in_progress", ["c"]],
    ["pending", ["b", "e"]],
    ["blocked", ["d"]],
    ["completed", ["a"]],
  ]);
});

test("a group without tasks is not shown, and an unknown status counts as to do", () => {
  expect(grouped([task("a", "novel")]).map((group) => group.name)).toEqual(["pending"]);
  expect(grouped([])).toEqual([]);
});
