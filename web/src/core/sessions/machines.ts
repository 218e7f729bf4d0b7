/** The machines of a fleet: their names, their states, and which one a new session runs on. Pure. */
import type { NodeRow, SessionRow } from "../../protocol/lobby.ts";
import { folders } from "./sessions.ts";
import { longAgo } from "../time.ts";

export interface MachineChoice {
  readonly value: string;
  readonly label: string;
  readonly about: string;
}

/** The machine with an id; null outside a fleet. */
export function machineOf(machines: readonly NodeRow[], id: string): NodeRow | null {
  return machines.find((machine) => machine.id === id) ?? null;
}

/** The name to show with a session; empty if there is only one machine. */
export function shownMachine(machines: readonly NodeRow[], id: string): string {
  if (machines.length < 2 || id === "") return "";
  return machineOf(machines, id)?.name || id;
}

/** The machine of a session, if it cannot be reached now. */
export function awayMachine(machines: readonly NodeRow[], id: string): NodeRow | null {
  const machine = machineOf(machines, id);
  return machine === null || machine.state === "here" ? null : machine;
}

/** `Online`, `Away for 4 min`, `Not seen for 3 d`. */
export function machineState(machine: NodeRow, now: number): string {
  const since = longAgo(Math.max(0, now - machine.since));
  if (machine.state === "here") return machine.draining ? "Online, starts no new sessions" : "Online";
  return machine.state === "away" ? `Away for ${since}` : `Not seen for ${since}`;
}

/** The machines that can start a session, those in use first. */
export function machineChoices(machines: readonly NodeRow[], sessions: readonly SessionRow[], now: number): readonly MachineChoice[] {
  if (machines.length < 2) return [];
  const newest = (id: string): number => Math.max(0, ...sessions.filter((row) => row.node === id).map((row) => row.last_activity));
  return machines
    .filter((machine) => machine.state === "here" && !machine.draining)
    .toSorted((a, b) => newest(b.id) - newest(a.id) || a.name.localeCompare(b.name))
    .map((machine) => ({ value: machine.id, label: machine.name || machine.id, about: usage(machine, now) }));
}

function usage(machine: NodeRow, now: number): string {
  const running = machine.running === 1 ? "1 running session" : `${machine.running} running sessions`;
  return machine.problem ?? `${machineState(machine, now)}, ${running}`;
}

/** The recent folders and the roots of a machine; of the server itself outside a fleet. */
export function foldersOn(machines: readonly NodeRow[], sessions: readonly SessionRow[], node: string, roots: readonly string[]): readonly string[] {
  const machine = machineOf(machines, node);
  if (machine === null) return [...new Set([...folders(sessions), ...roots])];
  return [...new Set([...folders(sessions.filter((row) => row.node === node)), ...machine.roots])];
}

/** The query of a request about the files of a machine; empty outside a fleet. */
export function onMachine(node: string): string {
  return node === "" ? "" : `&node=${encodeURIComponent(node)}`;
}

/** The address of a route on a machine; the route itself outside a fleet. */
export function atMachine(path: string, node: string): string {
  return node === "" ? path : `${path}?node=${encodeURIComponent(node)}`;
}

/** The machine whose settings are shown first: that of a session, or the first that is here. */
export function settingsMachine(machines: readonly NodeRow[], wanted: string): string {
  if (machines.length < 2) return "";
  const here = machines.filter((machine) => machine.state === "here");
  return (here.find((machine) => machine.id === wanted) ?? here[0])?.id ?? "";
}

/** How full the disk of a machine is, from 0 to 1. */
export function diskUse(machine: NodeRow): number {
  return machine.disk_total > 0 ? 1 - machine.disk_free / machine.disk_total : 0;
}
