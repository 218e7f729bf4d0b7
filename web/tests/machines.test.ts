import { describe, expect, it } from "vitest";
import { awayMachine, diskUse, foldersOn, machineChoices, machineState, onMachine, shownMachine } from "../src/core/sessions/machines.ts";
import { bytes } from "../src/core/time.ts";
import type { NodeRow, SessionRow } from "../src/protocol/lobby.ts";

const machine = (part: Partial<NodeRow>): NodeRow => ({
  id: "a", name: "desktop", state: "here", since: 1_000, version: "0.1.0", cli_version: "2.1.325", agent: "claude", load: 0.25,
  disk_free: 25, disk_total: 100, store: { state: "ok", reason: null }, running: 1, draining: false, roots: ["/home/me"], replicated: false, limits: [],
  problem: null, ...part,
});
const laptop = machine({ id: "b", name: "laptop", state: "away", roots: ["/Users/me"] });
const cloud = machine({ id: "c", name: "cloud", running: 2, roots: ["/srv"] });
const row = (node: string, cwd: string, at: number): SessionRow => ({ id: cwd, node, cwd, last_activity: at, archived: false }) as SessionRow;

describe("machines of a fleet", () => {
  it("names the machine of a session only if there are several", () => {
    expect(shownMachine([], "")).toBe("");
    expect(shownMachine([cloud], "c")).toBe("");
    expect(shownMachine([cloud, laptop], "b")).toBe("laptop");
    expect(shownMachine([cloud, laptop], "unknown")).toBe("unknown");
  });

  it("knows which machine cannot be reached", () => {
    expect(awayMachine([cloud, laptop], "b")).toBe(laptop);
    expect(awayMachine([cloud, laptop], "c")).toBeNull();
    expect(awayMachine([], "")).toBeNull();
  });

  it("says since when a machine is away", () => {
    expect(machineState(cloud, 1_240)).toBe("Online");
    expect(machineState({ ...cloud, draining: true }, 1_240)).toBe("Online, starts no new sessions");
    expect(machineState(laptop, 1_240)).toBe("Away for 4 min");
    expect(machineState({ ...laptop, state: "gone" }, 1_000 + 3 * 86_400)).toBe("Not seen for 3 d");
  });

  it("offers only machines that can start a session, the last used first", () => {
    const draining = machine({ id: "d", name: "old", draining: true });
    const desktop = machine({});
    const rows = [row("a", "/home/me/x", 5), row("c", "/srv/y", 9)];
    expect(machineChoices([desktop], rows, 0)).toEqual([]);
    expect(machineChoices([desktop, laptop, cloud, draining], rows, 0).map((choice) => choice.value)).toEqual(["c", "a"]);
    expect(machineChoices([desktop, cloud], [], 0)[0]?.about).toBe("Online, 2 running sessions");
  });

  it("offers the folders of the chosen machine", () => {
    const rows = [row("a", "/home/me/x", 5), row("c", "/srv/y", 9)];
    expect(foldersOn([machine({}), cloud], rows, "c", ["/server"])).toEqual(["/srv/y", "/srv"]);
    expect(foldersOn([], [row("", "/home/me/x", 5)], "", ["/server"])).toEqual(["/home/me/x", "/server"]);
  });

  it("names the machine in requests only in a fleet", () => {
    expect(onMachine("")).toBe("");
    expect(onMachine("a b")).toBe("&node=a%20b");
  });

  it("measures the disk", () => {
    expect(diskUse(cloud)).toBe(0.75);
    expect(diskUse({ ...cloud, disk_total: 0 })).toBe(0);
    expect(bytes(74 * 1024 ** 3)).toBe("74 GB");
    expect(bytes(5 * 1024 ** 2)).toBe("5 MB");
  });
});
