/** What a call of a task tool says, with the name of the task where anybody knows it. */
import { expect, test } from "vitest";
import type { Task, ToolItem } from "../../src/protocol/transcript.ts";
import { todosOf, todoTarget } from "../../src/view/tools/todo/todo_list.ts";

const call = (name: string, input: unknown, structured: unknown = null): ToolItem =>
  ({ kind: "tool", name, input, structured, state: "done" }) as ToolItem;
const known = [{ id: "3", subject: "Write the tests" }] as unknown as readonly Task[];

test.each([
  ["TaskUpdate", { taskId: "3", status: "completed" }, null, "#3 Write the tests: completed"],
  ["TaskUpdate", { taskId: "3", status: "in_progress" }, null, "#3 Write the tests: in progress"],
  ["TaskUpdate", { taskId: "3", owner: "me" }, null, "#3 Write the tests"],
  ["TaskUpdate", { taskId: "3", subject: "Write more tests" }, null, "#3 Write more tests"],
  ["TaskUpdate", { taskId: "9", status: "completed" }, null, "#9 completed"],
  ["TaskUpdate", { taskId: "9" }, null, "#9"],
  ["TaskGet", { taskId: "3" }, null, "#3 Write the tests"],
  ["TaskGet", { taskId: "9" }, { task: { id: "9", subject: "Read" } }, "#9 Read"],
  ["TaskCreate", { subject: "Rest" }, null, "Rest"],
])("%s of %j with %j is %s", (name, input, structured, target) => {
  expect(todoTarget(call(name, input, structured), () => known)).toBe(target);
});

test("who shows no task asks for none", () => {
  const asked = (): never => {
    throw new Error("asked");
  };
  expect(todoTarget(call("TodoWrite", { todos: [{ content: "Go", status: "in_progress" }] }), asked)).toBe("Go");
});

test("the card of an update has the task's name too", () => {
  expect(todosOf(call("TaskUpdate", { taskId: "3" }), known)[0]?.text).toBe("Write the tests");
  expect(todosOf(call("TaskUpdate", { taskId: "9" }), known)[0]?.text).toBe("Task 9");
});
