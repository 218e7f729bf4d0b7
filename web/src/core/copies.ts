/**
 * What of a document is kept for reading without a server, and how it stands in for the one that
 * cannot be had: without what could be answered or is running, because nobody knows. Pure.
 */
import type { Known } from "./client.ts";
import type { Lobby } from "../protocol/lobby.ts";
import type { Followed } from "./documents.ts";
import type { Row, Sections } from "./apply.ts";

/** A kept document, and when it was so. */
export interface Copy {
  readonly at: number;
  readonly document: Followed;
}

const MOST_ITEMS = 200;
const LONGEST = 20_000;
/** Letters of one text; a longer one is cut, so that a few documents do not fill a phone. */

const CUT = "\n… (cut: only its beginning was kept for reading offline)";

/** A document as it is kept: its last items, texts of limited length, no pictures. */
export function keptState(document: Followed): { readonly state: Sections; readonly window: Followed["window"] } {
  const items = document.state["items"];
  if (!Array.isArray(items)) return { state: document.state, window: document.window };
  const last = (items as readonly Row[]).slice(-MOST_ITEMS).map(slim);
  const first = document.window.first + items.length - last.length;
  return { state: { ...document.state, items: last }, window: { ...document.window, first } };
}

/** A session's copy as it is shown: nothing in it waits for an answer or claims to run. */
export function shownState(state: Sections): Sections {
  const status = state["status"];
  if (typeof status !== "object" || status === null) return state;
  return { ...state, pending: [], status: { ...status, state: "", detail: null, background: 0, waiting: 0 } };
}

/** The lobby's copy as it is shown: what waited then may have been answered since. */
export function shownLobby(lobby: Lobby): Lobby {
  const sessions = lobby.sessions.map((one) => ({ ...one, pending: 0, live: false, status: { ...one.status, state: "" } }));
  return { ...lobby, inbox: [], sessions };
}

/** What is known, with copies in the place of what is not; the same value if none is needed. */
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

/** Whether a value holds a long text, looked for without writing all of it out. */
function isLarge(value: unknown, left = 4): boolean {
  if (typeof value === "string") return value.length > LONGEST;
  if (typeof value !== "object" || value === null || left === 0) return false;
  const inner = Object.values(value);
  return inner.length > LONGEST || inner.some((one) => isLarge(one, left - 1));
}
