/**
 * Local copies of documents for reading without a server. They are shown without open requests and
 * without running states, because their current state is unknown. Pure.
 */
import type { Known } from "./client.ts";
import type { Lobby } from "../../protocol/lobby.ts";
import type { Followed } from "./documents.ts";
import type { Row, Sections } from "./apply.ts";

/** A copy of a document, and when it was made. */
export interface Copy {
  readonly at: number;
  readonly document: Followed;
}

const MOST_ITEMS = 200;
/** Most characters of one text; a longer one is cut, so that a few documents do not fill a phone. */
const LONGEST = 20_000;

const CUT = "\n… (cut: only its beginning was kept for reading offline)";

/** A document as it is stored: its last items, texts of limited length, no images. */
export function keptState(document: Followed): { readonly state: Sections; readonly window: Followed["window"] } {
  const items = document.state["items"];
  if (!Array.isArray(items)) return { state: document.state, window: document.window };
  const last = (items as readonly Row[]).slice(-MOST_ITEMS).map(slim);
  const first = document.window.first + items.length - last.length;
  return { state: { ...document.state, items: last }, window: { ...document.window, first } };
}

/** A session's copy as it is shown: without open requests and not running. */
export function shownState(state: Sections): Sections {
  const status = state["status"];
  if (typeof status !== "object" || status === null) return state;
  return { ...state, pending: [], status: { ...status, state: "", detail: null, background: 0, waiting: 0 } };
}

/** The lobby's copy as it is shown: its open requests may have been answered since. */
export function shownLobby(lobby: Lobby): Lobby {
  // A copy of an older app has no tags.
  const sessions = lobby.sessions.map((session) => ({ ...session, tags: session.tags ?? [], pending: 0, live: false, status: { ...session.status, state: "" } }));
  return { ...lobby, inbox: [], sessions };
}

/** The known state, with copies of documents that are not loaded; the same value if none is needed. */
export function withCopies(known: Known, lobby: Lobby | null, copies: ReadonlyMap<string, Copy>): Known {
  const wanted = [...copies].filter(([name]) => !known.documents.has(name) && !known.missing.has(name));
  const needsLobby = known.lobby === null && lobby !== null;
  if (wanted.length === 0 && !needsLobby) return known;
  const documents = new Map(known.documents);
  for (const [name, copy] of wanted) documents.set(name, copy.document);
  return { ...known, documents, lobby: known.lobby ?? lobby };
}

function slim(row: Row): Row {
  const out: Record<string, unknown> = { ...row };
  if (Array.isArray(out["images"])) out["images"] = [];
  for (const [name, value] of Object.entries(out)) {
    if (typeof value === "string" && value.length > LONGEST) out[name] = value.slice(0, LONGEST) + CUT;
    else if (name === "structured" && isLarge(value)) out[name] = null;
  }
  return out as Row;
}

/** Whether a value contains a long text, checked without serializing it. */
function isLarge(value: unknown, left = 4): boolean {
  if (typeof value === "string") return value.length > LONGEST;
  if (typeof value !== "object" || value === null || left === 0) return false;
  const inner = Object.values(value);
  return inner.length > LONGEST || inner.some((each) => isLarge(each, left - 1));
}
