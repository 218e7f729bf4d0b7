/** Whether a session lives, and what to do if it seems not to: a ladder of ever harder steps. Pure. */
import type { Item, Status } from "../../protocol/transcript.ts";
import { isAlive, isElsewhere, shownStatus } from "../../core/status.ts";

/** `stop` asks the turn to end, `restart` ends the process and goes on, `resume` starts one anew. */
export type Step = "stop" | "restart" | "resume";

export interface Liveness {
  /** In words, for a person who wonders. */
  readonly says: string;
  /** Whether it is time to wonder. */
  readonly worrying: boolean;
  /** The steps that make sense now, the gentlest first. */
  readonly steps: readonly Step[];
}

const SILENT_S = 45;
/** A model that thinks gives a sign at least this often; a long tool may not. */
const STUBBORN_S = 8;
/** How long a turn that was asked to end may take before a restart is the next thing to try. */

/** `stopAsked` is when somebody asked the turn to end, null if nobody did. */
export function liveness(status: Status, now: number, stopAsked: number | null): Liveness {
  const { busy, tone } = shownStatus(status);
  if (isElsewhere(status)) return { says: "Another program runs it; here it is only read.", worrying: false, steps: [] };
  if (!isAlive(status.state)) {
    const code = status.returncode === null ? "" : ` with exit code ${status.returncode}`;
    const lost = status.state === "disconnected";
    return { says: lost ? `Its process ended${code}.` : "It does not run.", worrying: lost, steps: ["resume"] };
  }
  if (!busy) return { says: "It waits for a message.", worrying: false, steps: ["restart"] };
  if (tone === "wait") return { says: "It waits for your answer.", worrying: false, steps: ["stop", "restart"] };
  const quiet = now - status.last_event;
  if (stopAsked !== null && now - stopAsked > STUBBORN_S) {
    return { says: "It was asked to stop and does not.", worrying: true, steps: ["restart"] };
  }
  if (stopAsked !== null) return { says: "It was asked to stop.", worrying: false, steps: ["restart"] };
  if (quiet > SILENT_S && status.state !== "running_tool") {
    return { says: "It has been silent for long.", worrying: true, steps: ["stop", "restart"] };
  }
  if (quiet > SILENT_S) return { says: "A tool runs and prints nothing.", worrying: false, steps: ["stop", "restart"] };
  return { says: "It works.", worrying: false, steps: ["stop", "restart"] };
}

/** When the CLI tries again after an error of the API, in seconds since 1970; null if it does not. */
export function retryAt(items: readonly Item[]): number | null {
  for (let at = items.length - 1; at >= Math.max(0, items.length - 20); at -= 1) {
    const item = items[at];
    if (item?.kind !== "notice" || item.notice !== "retry") continue;
    const until = item.data["until"];
    return item.data["over"] === true || typeof until !== "number" ? null : until;
  }
  return null;
}
