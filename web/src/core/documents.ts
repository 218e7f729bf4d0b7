/**
 * The documents a client follows: what is known of each, how a message of the server changes it,
 * and how to ask for what is missing. Values only; `client` sends and `connection` connects.
 */
import type { Change } from "../protocol/changes.ts";
import type { Changes, Fetch, Open, Page, SnapshotMessage, Window } from "../protocol/messages.ts";
import type { PendingRow } from "../protocol/pending.ts";
import type { Snapshot, Turn } from "../protocol/transcript.ts";
import { apply, Mismatch, type Row, type Sections } from "./apply.ts";

/** A session's transcript as the server sends it. */
export interface Transcript extends Omit<Snapshot, "pending"> {
  readonly pending: readonly PendingRow[];
  /** Turns of the items we have that the server no longer lists among its own; all are over. */
  readonly past?: readonly Turn[];
}

/** What an item has beside its own fields: those that were cut, with their full lengths. */
export interface Shortened {
  readonly cut?: { readonly [field: string]: number };
}

/** A document and where in it we are. */
export interface Followed {
  readonly name: string;
  readonly epoch: string;
  readonly seq: number;
  readonly state: Sections;
  readonly window: Window;
  /** Whether older items were asked for and have not come. */
  readonly fetching: boolean;
}

/** The document that a snapshot holds. */
export function fromSnapshot(message: SnapshotMessage): Followed {
  const { document: name, epoch, seq, state, window } = message;
  return { name, epoch, seq, state, window, fetching: false };
}

/** The document after changes; null if they do not fit, and it has to be opened anew. */
export function changed(before: Followed, message: Changes): Followed | null {
  if (message.from_seq !== before.seq) return null;
  try {
    const changes = message.changes as readonly Change[];
    const state = apply(before.state, changes);
    const drops = changes.some((one) => one.to === "turns" && (one.op === "remove" || one.op === "replace"));
    return { ...before, seq: message.seq, state: drops ? remembering(before.state, state) : state };
  } catch (problem) {
    if (problem instanceof Mismatch) return null;
    throw problem;
  }
}

/** The server lists the last turns only; we keep those of the items that we have. */
function remembering(before: Sections, state: Sections): Sections {
  const listed = new Set((state["turns"] as readonly Row[]).map((turn) => turn.id));
  const gone = (before["turns"] as readonly Row[]).filter((turn) => !listed.has(turn.id) && turn["outcome"] !== null);
  return gone.length === 0 ? state : { ...state, past: [...pastOf(before), ...gone] };
}

function pastOf(state: Sections): readonly Row[] {
  return (state["past"] as readonly Row[] | undefined) ?? [];
}

/** The document with older items before its own; a page that does not fit is passed by. */
export function paged(before: Followed, page: Page): Followed {
  const items = before.state["items"] as readonly Row[];
  if (items[0]?.id !== page.before) return { ...before, fetching: false };
  const past = pastOf(before.state);
  const turns = (page.turns as readonly Row[]).filter((turn) => past.every((one) => one.id !== turn.id));
  const state = { ...before.state, items: [...(page.items as readonly Row[]), ...items], past: [...turns, ...past] };
  return { ...before, state, window: page.window, fetching: false };
}

/** How to ask for a document from where we are, or from its end. */
export function opening(name: string, known: Followed | undefined, window = 200): Open {
  const oldest = known ? oldestItem(known) : null;
  if (!known) return { type: "open", document: name, window };
  return { type: "open", document: name, window, last_seq: known.seq, epoch: known.epoch, oldest };
}

/** How to ask for older items; null if there are none, or they were asked for. */
export function fetching(known: Followed, count = 200): Fetch | null {
  const before = oldestItem(known);
  if (before === null || known.window.first === 0 || known.fetching) return null;
  return { type: "fetch", document: known.name, before, count };
}

/** Whether an item is among those we have. */
export function holds(known: Followed, item: string): boolean {
  const items = known.state["items"];
  return Array.isArray(items) && (items as readonly Row[]).some((one) => one.id === item);
}

/** The id of the oldest item we have. */
export function oldestItem(known: Followed): string | null {
  const items = known.state["items"];
  return Array.isArray(items) ? ((items[0] as Row | undefined)?.id ?? null) : null;
}
