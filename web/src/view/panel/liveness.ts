/** Whether a session responds, and the steps that help if it does not, the mildest first. Pure. */
import type { Item, Status } from "../../protocol/transcript.ts";
import { isAlive, isElsewhere, shownStatus } from "../../core/sessions/status.ts";

/** `stop` asks the turn to end, `restart` replaces the process, `resume` starts one. */
export type Step = "stop" | "restart" | "resume";

export interface Liveness {
  /** The status as a sentence. */
  readonly says: string;
  /** Whether the user should act. */
  readonly worrying: boolean;
  /** The steps that make sense now, the mildest first. */
  readonly steps: readonly Step[];
}

/** A thinking model sends an event at least this often; a long tool may not. */
const SILENT_S = 45;
/** How long an interrupted turn may take to end before a restart is offered. */
const STUBBORN_S = 8;

/** `stopAsked` is when a user asked the turn to end, or null. */
export function liveness(status: Status, now: number, stopAsked: number | null): Liveness {
  const { busy, tone } = shownStatus(status);
  if (isElsewhere(status)) return { says: "Running in another program. Read-only here.", worrying: false, steps: [] };
  if (!isAlive(status.state)) {
    const code = status.returncode === null ? "" : ` with exit code ${status.returncode}`;
    const lost = status.state === "disconnected";
    return { says: lost ? `The process ended${code}.` : "Not running.", worrying: lost, steps: ["resume"] };
  }
  if (status.state === "starting") return { says: "Starting…", worrying: false, steps: ["restart"] };
  if (!busy && status.background > 0) {
    const tasks = status.background === 1 ? "1 background task is" : `${status.background} background tasks are`;
    return { says: `Idle; ${tasks} running.`, worrying: false, steps: ["restart"] };
  }
  if (!busy) return { says: "Idle.", worrying: false, steps: ["restart"] };
  if (tone === "wait") return { says: "Waiting for your answer.", worrying: false, steps: ["stop", "restart"] };
  const quiet = now - status.last_event;
  if (stopAsked !== null && now - stopAsked > STUBBORN_S) {
    return { says: "Not responding to the stop request.", worrying: true, steps: ["restart"] };
  }
  if (stopAsked !== null) return { says: "Stopping…", worrying: false, steps: ["restart"] };
  if (quiet > SILENT_S && status.state !== "running_tool") {
    return { says: "No output for a while.", worrying: true, steps: ["stop", "restart"] };
  }
  if (quiet > SILENT_S) return { says: "A tool is running (no output yet).", worrying: false, steps: ["stop", "restart"] };
  return { says: "Working.", worrying: false, steps: ["stop", "restart"] };
}

/** When the CLI retries after an API error, as a Unix timestamp; null if it does not. */
export function retryAt(items: readonly Item[]): number | null {
  for (let at = items.length - 1; at >= Math.max(0, items.length - 20); at -= 1) {
    const item = items[at];
    if (item?.kind !== "notice" || item.notice !== "retry") continue;
    const until = item.data["until"];
    return item.data["over"] === true || typeof until !== "number" ? null : until;
  }
  return null;
}
