/** What a session is doing, in words and with the one colour that goes with it. Pure. */
import type { ListedStatus, SessionRow } from "../protocol/lobby.ts";
import type { Item, Status } from "../protocol/transcript.ts";

export type Tone = "run" | "wait" | "bad" | "quiet";

export interface Shown {
  readonly label: string;
  readonly tone: Tone;
  /** Whether a turn runs, so that it can be stopped. */
  readonly busy: boolean;
}

/** Another process writes the session: it can be read here as it grows, and nothing else. */
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
  disconnected: { label: "Process lost", tone: "bad", busy: false },
  ended: { label: "Ended", tone: "quiet", busy: false },
  [ELSEWHERE]: { label: "In use elsewhere", tone: "run", busy: false },
  "": { label: "Not running", tone: "quiet", busy: false },
};

/**
 * A status as it is shown; a state nobody knows is shown by its own name. The status knows the tool
 * that runs by its id, so whoever has the conversation gives its name.
 */
export function shownStatus(status: Status | ListedStatus, tool = ""): Shown {
  const known = STATES[status.state] ?? { label: status.state, tone: "quiet", busy: false };
  if (status.state === "running_tool" && tool) return { ...known, label: `Running ${tool}` };
  return known;
}

/** The name of the tool that runs; empty if none does. */
export function runningTool(transcript: { readonly status: Status; readonly items: readonly Item[] }): string {
  const running = transcript.items.findLast((item) => item.id === transcript.status.tool);
  return running?.kind === "tool" ? running.title || running.name : "";
}

/** Whether the session has a process that takes prompts. */
export function isAlive(state: string): boolean {
  return !["ended", "disconnected", ELSEWHERE, ""].includes(state);
}

/** Whether another process is at it, so that it can only be read. */
export function isElsewhere(status: Status | ListedStatus): boolean {
  return status.state === ELSEWHERE;
}

/** What a session does: that another process is at it the list knows, not its records, and not since when. */
export function statusOf(told: Status, row: SessionRow | null): Status {
  return row && isElsewhere(row.status) ? { ...told, state: ELSEWHERE, since: 0 } : told;
}

export interface Mode {
  readonly value: string;
  readonly label: string;
  readonly about: string;
}

/** The permission modes, from the one that lets least happen unasked. */
export const MODES: readonly Mode[] = [
  { value: "plan", label: "Plan", about: "Reads and plans, changes nothing" },
  { value: "dontAsk", label: "Never ask", about: "Denies whatever is not allowed yet" },
  { value: "default", label: "Ask first", about: "Asks before each action that is not allowed yet" },
  { value: "acceptEdits", label: "Accept edits", about: "Edits files freely, asks for the rest" },
  { value: "auto", label: "Auto", about: "A classifier decides, and asks when in doubt" },
  { value: "bypassPermissions", label: "No checks", about: "Everything runs without asking" },
];

/** The modes a server lets its clients choose: up to its ceiling, and never no checks at all. */
export function modesUpTo(ceiling: string | undefined): readonly Mode[] {
  const offered = MODES.filter((mode) => mode.value !== "bypassPermissions");
  const last = offered.findIndex((mode) => mode.value === ceiling);
  return last < 0 ? offered : offered.slice(0, last + 1);
}

/** A mode by its name on the wire. */
export function modeLabel(value: string | null): string {
  if (value === null) return "Mode";
  return MODES.find((mode) => mode.value === value)?.label ?? value;
}

export const EFFORTS: readonly string[] = ["low", "medium", "high", "xhigh", "max"];

/** `claude-sonnet-4-5-20250929` as `sonnet 4.5`. */
export function modelLabel(model: string | null): string {
  if (!model) return "Model";
  const match = /^claude-([a-z]+)-(\d+)(?:-(\d{1,2}))?(?:-\d{8})?(\[.*\])?$/.exec(model);
  if (!match) return model;
  const [, name, major, minor, more] = match;
  return `${name} ${major}${minor ? `.${minor}` : ""}${more ? ` ${more}` : ""}`;
}
