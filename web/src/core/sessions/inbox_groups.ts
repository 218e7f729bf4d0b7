/** Requests of several sessions for the same call, so that one answer can serve all. Pure. */
import type { InboxRow } from "../../protocol/lobby.ts";

/** The other requests for the same call, oldest first. */
export function sameAs(row: InboxRow, rows: readonly InboxRow[]): readonly InboxRow[] {
  if (row.group === "") return [];
  return rows.filter((other) => other.group === row.group && other.id !== row.id);
}

/** The requests in order, with those for the same call next to the first of them. */
export function inGroups(rows: readonly InboxRow[]): readonly InboxRow[] {
  const oldest = [...rows].sort((a, b) => a.at - b.at);
  const taken = new Set<string>();
  return oldest.flatMap((row) => {
    if (taken.has(row.id)) return [];
    const group = [row, ...sameAs(row, oldest)];
    group.forEach((each) => taken.add(each.id));
    return group;
  });
}
