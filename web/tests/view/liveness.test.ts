import { describe, expect, test } from "vitest";
import type { Item, Status } from "../../src/protocol/transcript.ts";
import { liveness, retryAt } from "../../src/view/panel/liveness.ts";

const NOW = 1_000;
const status = (state: string, part: Partial<Status> = {}): Status => ({
  state, since: NOW - 10, last_event: NOW - 1, tool: null, background: 0, waiting: 0, detail: null, returncode: null, ...part,
}); // prettier-ignore

describe("the ladder", () => {
  test("begins with stopping the turn", () => {
    expect(liveness(status("thinking"), NOW, null)).toMatchObject({ worrying: false, steps: ["stop", "restart"] });
  });

  test("worries when a turn is silent for long", () => {
    const silent = liveness(status("thinking", { last_event: NOW - 60 }), NOW, null);
    expect(silent).toMatchObject({ worrying: true, steps: ["stop", "restart"] });
  });

  test("does not worry about a tool that prints nothing", () => {
    expect(liveness(status("running_tool", { last_event: NOW - 600 }), NOW, null).worrying).toBe(false);
  });

  test("goes on to a restart when the turn does not stop", () => {
    expect(liveness(status("thinking"), NOW, NOW - 2)).toMatchObject({ worrying: false, steps: ["restart"] });
    expect(liveness(status("thinking"), NOW, NOW - 20)).toMatchObject({ worrying: true, steps: ["restart"] });
  });

  test("offers to resume what has no process, and tells how it ended", () => {
    const lost = liveness(status("disconnected", { returncode: 137 }), NOW, null);
    expect(lost).toEqual({ says: "The process ended with exit code 137.", worrying: true, steps: ["resume"] });
    expect(liveness(status("ended"), NOW, null).worrying).toBe(false);
  });

  test("leaves a session that waits in peace", () => {
    expect(liveness(status("idle", { last_event: NOW - 9_000 }), NOW, null)).toMatchObject({ worrying: false, steps: ["restart"] });
    expect(liveness(status("awaiting_approval", { last_event: NOW - 9_000 }), NOW, null).worrying).toBe(false);
  });
});

test("the next try is found in the last notice about it", () => {
  const notice = (data: object) => ({ kind: "notice", notice: "retry", data }) as unknown as Item;
  expect(retryAt([notice({ until: 5, over: true }), notice({ until: 9, over: false })])).toBe(9);
  expect(retryAt([notice({ until: 9, over: true })])).toBeNull();
  expect(retryAt([])).toBeNull();
});

test("a session that another program runs is left to it", () => {
  expect(liveness(status("elsewhere"), NOW, null)).toEqual({
    says: "Running in another program. Read-only here.", worrying: false, steps: [],
  }); // prettier-ignore
});
