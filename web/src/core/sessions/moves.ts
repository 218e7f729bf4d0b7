/** Moves of sessions between machines: what travels, how far a move is, and where it can go. Pure. */
import type { NodeRow } from "../../protocol/lobby.ts";
import { machineState, type MachineChoice } from "./machines.ts";
import { bytes } from "../time.ts";

/** The files of a session that would travel. */
export interface GitPreview {
  readonly name: string;
  readonly branch: string | null;
  readonly head: string;
  readonly commits: number;
  readonly bytes: number;
  readonly files: readonly string[];
  readonly more_files: number;
  readonly ignored: readonly string[];
  readonly more_ignored: number;
}

/** What `GET /api/sessions/ID/move` returns. */
export interface MovePreview {
  /** Whether the session's machine is away, so that the session can only be adopted. */
  readonly away: boolean;
  readonly busy?: boolean;
  readonly background?: number;
  readonly events: number;
  /** Events at the beginning that no copy has. */
  readonly lost?: number;
  readonly git?: GitPreview | null;
  readonly problem: string | null;
}

/** What `GET /api/moves/ID` returns. */
export interface Move {
  readonly id: string;
  readonly session: string;
  readonly target: string;
  readonly kind: "move" | "fork" | "adopt";
  readonly state: "draining" | "packing" | "sending" | "unpacking" | "committing" | "done" | "failed" | "cancelled";
  readonly waiting: string;
  readonly sent: number;
  readonly size: number;
  readonly problem: string;
  readonly result: { readonly session?: string; readonly cwd?: string; readonly resume?: boolean; readonly remembers?: boolean; readonly problem?: string; readonly later?: boolean };
}

/** The machines that can take a session: those that are here and not its own. */
export function moveTargets(machines: readonly NodeRow[], own: string, now: number): readonly MachineChoice[] {
  return machines
    .filter((machine) => machine.state === "here" && !machine.draining && machine.id !== own)
    .toSorted((a, b) => a.name.localeCompare(b.name))
    .map((machine) => ({ value: machine.id, label: machine.name || machine.id, about: machine.problem ?? machineState(machine, now) }));
}

/** The step that a move is at, as a sentence. */
export function moveStep(move: Move): string {
  switch (move.state) {
    case "draining":
      return move.waiting === "answer" ? "Waiting for an answer to the open request…" : "Waiting for the turn to end…";
    case "packing":
      return "Packing the conversation and the files…";
    case "sending":
      return move.size > 0 ? `Sending ${bytes(Math.min(move.sent, move.size))} of ${bytes(move.size)}…` : "Sending…";
    case "unpacking":
      return "Unpacking on the other machine…";
    case "committing":
      return "Handing over…";
    case "done":
      return "Done.";
    case "cancelled":
      return "Cancelled. The session stays where it is.";
    default:
      return move.problem;
  }
}

/** Whether a move has ended. */
export function hasEnded(move: Move): boolean {
  return ["done", "failed", "cancelled"].includes(move.state);
}

/** Whether a move can still be cancelled. */
export function canCancel(move: Move): boolean {
  return !hasEnded(move) && move.state !== "committing";
}

/** The part of a move that is over, from 0 to 1; null while that is unknown. */
export function moveProgress(move: Move): number | null {
  if (move.state === "sending" && move.size > 0) return Math.min(1, move.sent / move.size);
  return hasEnded(move) ? 1 : null;
}

/** `3 files, 12 KB`, and how many are listed. */
export function countFiles(names: readonly string[], more: number): string {
  const count = names.length + more;
  return count === 1 ? "1 file" : `${count} files`;
}
