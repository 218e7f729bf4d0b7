import { expect, test } from "vitest";
import { backgroundTasks, endOf } from "../src/core/conversation/background.ts";
import { grouped } from "../src/core/sessions/sessions.ts";
import { shownStatus } from "../src/core/sessions/status.ts";
import { liveness } from "../src/view/panel/liveness.ts";
import type { SessionRow } from "../src/protocol/lobby.ts";
import type { Background, Status } from "../src/protocol/transcript.ts";

const task = { id: "b1", type: "shell", state: "running", backgrounded: true, started: 100, ended: null, exit_code: null } as Background;

test("only tasks that turns do not wait for are background tasks", () => {
  expect(backgroundTasks([task, { ...task, id: "a1", backgrounded: false }])).toEqual([task]);
});

test.each([
  [{ state: "running" }, null],
  [{ state: "paused" }, null],
  [{ state: "completed", ended: 112, exit_code: 0 }, { text: "exit code 0", tone: "ok", took: "12 s" }],
  [{ state: "failed", ended: 103.2, exit_code: 3 }, { text: "exit code 3", tone: "bad", took: "3.2 s" }],
  [{ state: "completed", ended: 160 }, { text: "finished", tone: "ok", took: "1 min" }],
  [{ state: "stopped", ended: null }, { text: "stopped", tone: "plain", took: "" }],
  [{ state: "something new", ended: null }, { text: "ended", tone: "plain", took: "" }],
])("a task that is %j ends as %j", (fields, end) => {
  expect(endOf({ ...task, ...fields } as Background)).toEqual(end);
});

const status = { state: "idle", since: 1, last_event: 1, tool: null, background: 1, waiting: 0, detail: null, returncode: null } as Status;

test("an idle session with background work is the user's turn, and marked as running", () => {
  expect(shownStatus(status)).toEqual({ label: "Your turn · 1 in background", tone: "run", busy: false });
  expect(shownStatus({ ...status, background: 0 })).toEqual({ label: "Your turn", tone: "quiet", busy: false });
  expect(shownStatus({ ...status, state: "error" })).toMatchObject({ label: "Failed · 1 in background", tone: "bad" });
  // Nothing runs without a process.
  expect(shownStatus({ ...status, state: "ended" }).label).toBe("Ended");
  expect(shownStatus({ ...status, state: "thinking" })).toMatchObject({ label: "Thinking", busy: true });
});

test("the list puts it into the group of running sessions", () => {
  const row = { id: "s", title: "x", cwd: "/", status, live: true, pending: 0, last_activity: 10, archived: false, pinned: false, tags: [] } as unknown as SessionRow;
  expect(grouped([row], "", 0).map((group) => group.name)).toEqual(["Running"]);
});

test("the panel says the same, and that a session starts", () => {
  expect(liveness(status, 2, null).says).toBe("Idle; 1 background task is running.");
  expect(liveness({ ...status, background: 0, state: "starting" }, 2, null).says).toBe("Starting…");
});
