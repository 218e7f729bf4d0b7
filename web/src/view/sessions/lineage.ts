/** Which session was forked from which. Pure. */
import type { SessionRow } from "../../protocol/lobby.ts";

/** A session in the tree of forks, and its depth. */
export interface Kin {
  readonly session: SessionRow;
  readonly depth: number;
}

/** The sessions that it was forked from, the root first; a cycle is followed once. */
export function ancestors(sessions: readonly SessionRow[], id: string): readonly SessionRow[] {
  const byId = new Map(sessions.map((session) => [session.id, session]));
  const parents: SessionRow[] = [];
  const seen = new Set([id]);
  let parent = byId.get(id)?.parent ?? null;
  while (parent !== null && !seen.has(parent)) {
    seen.add(parent);
    const session = byId.get(parent);
    if (!session) break;
    parents.unshift(session);
    parent = session.parent;
  }
  return parents;
}

/** All forks related to a session, each below its parent; empty if there are none. */
export function family(sessions: readonly SessionRow[], id: string): readonly Kin[] {
  const root = ancestors(sessions, id)[0] ?? sessions.find((session) => session.id === id);
  if (!root) return [];
  const children = new Map<string, SessionRow[]>();
  for (const session of sessions) {
    if (session.parent === null) continue;
    children.set(session.parent, [...(children.get(session.parent) ?? []), session]);
  }
  const relatives: Kin[] = [];
  const seen = new Set<string>();
  const add = (session: SessionRow, depth: number): void => {
    if (seen.has(session.id)) return;
    seen.add(session.id);
    relatives.push({ session, depth });
    const below = [...(children.get(session.id) ?? [])].sort((a, b) => a.created - b.created);
    for (const child of below) add(child, depth + 1);
  };
  add(root, 0);
  return relatives.length > 1 ? relatives : [];
}
