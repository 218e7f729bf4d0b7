/** Which session was forked from which. Pure. */
import type { SessionRow } from "../../protocol/lobby.ts";

/** A session in the tree of its forks, and how deep it stands there. */
export interface Kin {
  readonly session: SessionRow;
  readonly depth: number;
}

/** The sessions it comes from, the first of all first; a circle is walked once. */
export function ancestors(sessions: readonly SessionRow[], id: string): readonly SessionRow[] {
  const byId = new Map(sessions.map((one) => [one.id, one]));
  const found: SessionRow[] = [];
  const seen = new Set([id]);
  let parent = byId.get(id)?.parent ?? null;
  while (parent !== null && !seen.has(parent)) {
    seen.add(parent);
    const session = byId.get(parent);
    if (!session) break;
    found.unshift(session);
    parent = session.parent;
  }
  return found;
}

/** The whole family of a session, each below what it was forked from; empty if it is alone. */
export function family(sessions: readonly SessionRow[], id: string): readonly Kin[] {
  const root = ancestors(sessions, id)[0] ?? sessions.find((one) => one.id === id);
  if (!root) return [];
  const children = new Map<string, SessionRow[]>();
  for (const one of sessions) {
    if (one.parent === null) continue;
    children.set(one.parent, [...(children.get(one.parent) ?? []), one]);
  }
  const found: Kin[] = [];
  const seen = new Set<string>();
  const add = (session: SessionRow, depth: number): void => {
    if (seen.has(session.id)) return;
    seen.add(session.id);
    found.push({ session, depth });
    const below = [...(children.get(session.id) ?? [])].sort((a, b) => a.created - b.created);
    for (const child of below) add(child, depth + 1);
  };
  add(root, 0);
  return found.length > 1 ? found : [];
}
