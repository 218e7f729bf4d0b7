/**
 * The documents a client follows: what is known of each, how a message of the server changes it,
 * and how to ask for what is missing. Values only; `client` sends and `connection` connects.
 */
import type {
  Change,
  Changes,
  Fetch,
  Open,
  Page,
  Pending,
  Snapshot,
  SnapshotMessage,
  Status,
  Window,
} from "../protocol/messages.ts";
import { apply, Mismatch, type Row, type Sections } from "./apply.ts";

/** A thing that "always" may mean for a request; its `index` goes into the answer. */
export interface Choice {
  readonly index: number;
  readonly label: string;
  readonly scope: string;
  readonly role: string;
  readonly wide: boolean;
  readonly lets_through?: string | null;
}

/** A pending request as the server sends it: with what an answer needs. */
export interface PendingRow extends Pending {
  readonly input_sha256: string;
  readonly choices: readonly Choice[];
}

/** A session's transcript as the server sends it. */
export interface Transcript extends Omit<Snapshot, "pending"> {
  readonly pending: readonly PendingRow[];
}

/** A session in the lobby. */
export interface SessionRow {
  readonly id: string;
  readonly title: string;
  readonly cwd: string;
  readonly cli_session_id: string | null;
  readonly status: Partial<Status> & { readonly state: string };
  readonly live: boolean;
  readonly model: string | null;
  readonly mode: string | null;
  readonly effort?: string | null;
  readonly cost_usd: number;
  readonly created: number;
  readonly last_activity: number;
  readonly pinned: boolean;
  readonly archived: boolean;
  readonly parent: string | null;
  readonly items: number;
  readonly pending: number;
  readonly source: string;
  readonly agent: string | null;
  readonly draft: string;
}

/** Something that waits for an answer, in the lobby. */
export interface InboxRow {
  readonly id: string;
  readonly session: string;
  readonly session_title: string;
  readonly request_id: string;
  readonly kind: string;
  readonly tool_name: string;
  readonly title: string;
  readonly at: number;
}

export interface DeviceRow {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly last_seen: number;
  readonly connected: boolean;
}

export interface ServerInfo {
  readonly agent?: string;
  readonly version?: string;
  readonly mode_ceiling?: string;
  readonly roots?: readonly string[];
  readonly store?: { readonly state: string; readonly reason?: string | null };
}

export interface Lobby {
  readonly sessions: readonly SessionRow[];
  readonly inbox: readonly InboxRow[];
  readonly devices: readonly DeviceRow[];
  readonly server: ServerInfo;
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
    const state = apply(before.state, message.changes as readonly Change[]);
    return { ...before, seq: message.seq, state };
  } catch (problem) {
    if (problem instanceof Mismatch) return null;
    throw problem;
  }
}

/** The document with older items before its own; a page that does not fit is passed by. */
export function paged(before: Followed, page: Page): Followed {
  const items = before.state["items"] as readonly Row[];
  if (items[0]?.id !== page.before) return { ...before, fetching: false };
  const state = { ...before.state, items: [...(page.items as readonly Row[]), ...items] };
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

/** The id of the oldest item we have. */
export function oldestItem(known: Followed): string | null {
  const items = known.state["items"];
  return Array.isArray(items) ? ((items[0] as Row | undefined)?.id ?? null) : null;
}
