/** The state of a session as a label and a color. Pure. */
import type { ListedStatus, SessionRow } from "../../protocol/lobby.ts";
import { MODES as NAMES } from "../../protocol/modes.ts";
import type { Item, Status } from "../../protocol/transcript.ts";

export type Tone = "run" | "wait" | "bad" | "quiet";

export interface Shown {
  /** Such as `Thinking`, or `Your turn · 1 in background`. */
  readonly label: string;
  readonly tone: Tone;
  /** Whether a turn is running, so that it can be stopped. */
  readonly busy: boolean;
}

/** Another process runs the session: it is read-only here. */
const ELSEWHERE = "elsewhere";

const STATES: Readonly<Record<string, Shown>> = {
  starting: { label: "Starting", tone: "run", busy: false },
  ready: { label: "Ready", tone: "quiet", busy: false },
  thinking: { label: "Thinking", tone: "run", busy: true },
  streaming: { label: "Writing", tone: "run", busy: true },
  running_tool: { label: "Running", tone: "run", busy: true },
  awaiting_approval: { label: "Waiting for you", tone: "wait", busy: true },
  compacting: { label: "Compacting", tone: "run", busy: true },
  retrying: { label: "Retrying", tone: "run", busy: true },
  idle: { label: "Your turn", tone: "quiet", busy: false },
  error: { label: "Failed", tone: "bad", busy: false },
  disconnected: { label: "Crashed", tone: "bad", busy: false },
  ended: { label: "Ended", tone: "quiet", busy: false },
  [ELSEWHERE]: { label: "In use elsewhere", tone: "run", busy: false },
  "": { label: "Not running", tone: "quiet", busy: false },
};

/**
 * A status as it is shown; an unknown state is shown by its own name. The status holds only the id
 * of the running tool, so the caller passes the tool's name.
 */
export function shownStatus(status: Status | ListedStatus, tool = ""): Shown {
  const known = STATES[status.state] ?? { label: status.state, tone: "quiet", busy: false };
  if (status.state === "running_tool" && tool) return { ...known, label: `Running ${tool}` };
  // A turn that has ended while background work continues: it is the user's turn, and something runs.
  if (!known.busy && status.background > 0 && isAlive(status.state)) {
    return { label: `${known.label} · ${status.background} in background`, tone: known.tone === "quiet" ? "run" : known.tone, busy: false };
  }
  return known;
}

/** The name of the running tool; empty if there is none. */
export function runningTool(transcript: { readonly status: Status; readonly items: readonly Item[] }): string {
  const running = transcript.items.findLast((item) => item.id === transcript.status.tool);
  return running?.kind === "tool" ? running.title || running.name : "";
}

/** Whether the session has a process that accepts prompts. */
export function isAlive(state: string): boolean {
  return !["ended", "disconnected", ELSEWHERE, ""].includes(state);
}

/** Whether another process runs it, so that it is read-only here. */
export function isElsewhere(status: Status | ListedStatus): boolean {
  return status.state === ELSEWHERE;
}

/** The status of a session. Only the list knows that another process runs it, and not since when. */
export function statusOf(status: Status, row: SessionRow | null): Status {
  return row && isElsewhere(row.status) ? { ...status, state: ELSEWHERE, since: 0 } : status;
}

export interface Mode {
  readonly value: string;
  readonly label: string;
  readonly about: string;
}

/** The description of each mode; the compiler requires every mode of the protocol. */
const DESCRIPTIONS: Readonly<Record<(typeof NAMES)[number], Omit<Mode, "value">>> = {
  plan: { label: "Plan", about: "Reads and plans, changes nothing" },
  dontAsk: { label: "Don't ask (auto-deny)", about: "Denies anything not already allowed" },
  default: { label: "Ask", about: "Prompts for anything not already allowed" },
  acceptEdits: { label: "Accept edits", about: "Edits files without asking, asks for the rest" },
  auto: { label: "Auto", about: "A classifier decides, and asks when in doubt" },
  bypassPermissions: { label: "No checks", about: "Everything runs without asking" },
};

/** The permission modes, the strictest first. */
export const MODES: readonly Mode[] = NAMES.map((value) => ({ value, ...DESCRIPTIONS[value] }));

/** The modes that clients of a server may select: up to its ceiling, never "No checks". */
export function modesUpTo(ceiling: string | undefined): readonly Mode[] {
  const offered = MODES.filter((mode) => mode.value !== "bypassPermissions");
  const last = offered.findIndex((mode) => mode.value === ceiling);
  return last < 0 ? offered : offered.slice(0, last + 1);
}

/** The label of a mode by its protocol name. */
export function modeLabel(value: string | null): string {
  if (value === null) return "Mode";
  return MODES.find((mode) => mode.value === value)?.label ?? value;
}

export { EFFORTS } from "../../protocol/modes.ts";

/** `claude-sonnet-4-5-20250929` as `sonnet 4.5`. */
export function modelLabel(model: string | null): string {
  if (!model) return "Model";
  const match = /^claude-([a-z]+)-(\d+)(?:-(\d{1,2}))?(?:-\d{8})?(\[.*\])?$/.exec(model);
  if (!match) return model;
  const [, name, major, minor, more] = match;
  return `${name} ${major}${minor ? `.${minor}` : ""}${more ? ` ${more}` : ""}`;
}
