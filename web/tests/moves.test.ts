import { describe, expect, it } from "vitest";
import { canCancel, countFiles, hasEnded, moveProgress, moveStep, moveTargets, type Move } from "../src/core/sessions/moves.ts";
import type { NodeRow } from "../src/protocol/lobby.ts";

const machine = (part: Partial<NodeRow>): NodeRow => ({ id: "a", name: "desktop", state: "here", since: 0, draining: false, problem: null, ...part }) as NodeRow;
const move = (part: Partial<Move>): Move => ({ id: "m", session: "s", target: "b", kind: "move", state: "draining", waiting: "", sent: 0, size: 0, problem: "", result: {}, ...part });

describe("moves between machines", () => {
  it("go to machines that are here, take new sessions and are not the session's own", () => {
    const machines = [machine({}), machine({ id: "b", name: "zebra" }), machine({ id: "c", name: "cloud" }), machine({ id: "d", state: "away" }), machine({ id: "e", draining: true })];
    expect(moveTargets(machines, "a", 0).map((each) => each.value)).toEqual(["c", "b"]);
  });

  it("say what they wait for", () => {
    expect(moveStep(move({}))).toBe("Waiting for the turn to end…");
    expect(moveStep(move({ waiting: "answer" }))).toBe("Waiting for an answer to the open request…");
    expect(moveStep(move({ state: "sending", sent: 500, size: 1000 }))).toContain("of");
    expect(moveStep(move({ state: "failed", problem: "The machine is away." }))).toBe("The machine is away.");
  });

  it("can be cancelled until the session is handed over", () => {
    expect(canCancel(move({ state: "unpacking" }))).toBe(true);
    expect(canCancel(move({ state: "committing" }))).toBe(false);
    expect(hasEnded(move({ state: "cancelled" }))).toBe(true);
  });

  it("show their progress while bytes are sent", () => {
    expect(moveProgress(move({}))).toBeNull();
    expect(moveProgress(move({ state: "sending", sent: 1, size: 4 }))).toBe(0.25);
    expect(moveProgress(move({ state: "done" }))).toBe(1);
    expect(countFiles(["a"], 0)).toBe("1 file");
    expect(countFiles(["a"], 2)).toBe("3 files");
  });
});
