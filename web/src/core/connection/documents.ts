/**
 * The documents that a client follows: their known state, how messages of the server change it, and
 * how to request what is missing. Values only; `client` sends and `connection` connects.
 */
import type { Change } from "../../protocol/changes.ts";
import type { Changes, Fetch, Open, Page, Released, SnapshotMessage, Window } from "../../protocol/messages.ts";
import type { PendingRow } from "../../protocol/pending.ts";
import type { Snapshot, Turn } from "../../protocol/transcript.ts";
import { apply, Mismatch, type Row, type Sections } from "./apply.ts";

/** A session's transcript as the server sends it. */
export interface Transcript extends Omit<Snapshot, "pending"> {
  readonly pending: readonly PendingRow[];
  /** Turns of the loaded items that the server no longer lists; all have ended. */
  readonly past?: readonly Turn[];
}

/** The fields of a row that were cut, with their full lengths. */
export interface Shortened {
  readonly cut?: { readonly [field: string]: number };
}

/** A document and its sequence number. */
export interface Followed {
  readonly name: string;
  readonly epoch: string;
  readonly seq: number;
  readonly state: Sections;
  readonly window: Window;
  /** Whether older items were requested and have not arrived. */
  readonly fetching: boolean;
}

/** The document in a snapshot. */
export function fromSnapshot(message: SnapshotMessage): Followed {
  const { document: name, epoch, seq, state, window } = message;
  return { name, epoch, seq, state, window, fetching: false };
}

/** The document after changes; null if they do not match, so that it must be opened again. */
export function changed(before: Followed, message: Changes): Followed | null {
  if (message.from_seq !== before.seq) return null;
  try {
    const changes = message.changes as readonly Change[];
    const state = apply(before.state, changes);
    const drops = changes.some((change) => change.to === "turns" && (change.op === "remove" || change.op === "replace"));
    return { ...before, seq: message.seq, state: drops ? withPastTurns(before.state, state) : state };
  } catch (problem) {
    if (problem instanceof Mismatch) return null;
    throw problem;
  }
}

/** The server lists only the last turns; the client keeps those of its loaded items. */
function withPastTurns(before: Sections, state: Sections): Sections {
  const listed = new Set((state["turns"] as readonly Row[]).map((turn) => turn.id));
  const gone = (before["turns"] as readonly Row[]).filter((turn) => !listed.has(turn.id) && turn["outcome"] !== null);
  return gone.length === 0 ? state : { ...state, past: [...pastOf(before), ...gone] };
}

function pastOf(state: Sections): readonly Row[] {
  return (state["past"] as readonly Row[] | undefined) ?? [];
}

/** The document with older items before its own; a page that does not match is ignored. */
export function paged(before: Followed, page: Page): Followed {
  const items = before.state["items"] as readonly Row[];
  if (items[0]?.id !== page.before) return { ...before, fetching: false };
  const past = pastOf(before.state);
  const turns = (page.turns as readonly Row[]).filter((turn) => past.every((known) => known.id !== turn.id));
  const state = { ...before.state, items: [...(page.items as readonly Row[]), ...items], past: [...turns, ...past] };
  return { ...before, state, window: page.window, fetching: false };
}

/** The document without the items before the oldest that it keeps, and without the turns that only those had. */
export function released(before: Followed, message: Released): Followed {
  const all = before.state["items"] as readonly Row[];
  const at = all.findIndex((item) => item.id === message.oldest);
  if (at <= 0) return { ...before, window: at < 0 ? before.window : message.window };
  const items = all.slice(at);
  const turns = new Set(items.map((item) => item["turn"]));
  const past = pastOf(before.state).filter((turn) => turns.has(turn.id));
  return { ...before, state: { ...before.state, items, past }, window: message.window };
}

/** The request for a document from its known sequence number on, or from its end. */
export function opening(name: string, known: Followed | undefined, window = 200): Open {
  const oldest = known ? oldestItem(known) : null;
  if (!known) return { type: "open", document: name, window };
  return { type: "open", document: name, window, last_seq: known.seq, epoch: known.epoch, oldest };
}

/** The request for older items; null if there are none, or they were already requested. */
export function fetching(known: Followed, count = 200): Fetch | null {
  const before = oldestItem(known);
  if (before === null || known.window.first === 0 || known.fetching) return null;
  return { type: "fetch", document: known.name, before, count };
}

/** Whether an item is loaded. */
export function holds(known: Followed, item: string): boolean {
  const items = known.state["items"];
  return Array.isArray(items) && (items as readonly Row[]).some((each) => each.id === item);
}

/** The id of the oldest loaded item. */
export function oldestItem(known: Followed): string | null {
  const items = known.state["items"];
  return Array.isArray(items) ? ((items[0] as Row | undefined)?.id ?? null) : null;
}
