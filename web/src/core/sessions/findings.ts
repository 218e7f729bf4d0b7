/** Search results grouped by session, and the search query as part of an address. Pure. */
import type { SessionRow } from "../../protocol/lobby.ts";
import { parameter, written } from "../routes.ts";
import { titleOf } from "./sessions.ts";

export interface Piece {
  readonly text: string;
  readonly match: boolean;
}

/** A matching item, as `/api/search` returns it. */
export interface Hit {
  readonly session: string;
  readonly item: string;
  readonly kind: string;
  readonly at: number;
  readonly project: string;
  readonly snippet: readonly Piece[];
}

/** The hits of one session. `id` is the session to open; the row is null if it is not listed. */
export interface FoundSession {
  readonly id: string;
  readonly title: string;
  readonly row: SessionRow | null;
  readonly project: string;
  readonly hits: readonly Hit[];
}

/** A search query and its filters. */
export interface Question {
  readonly words: string;
  readonly kind: string;
  readonly project: string;
  readonly model: string;
  /** How far back, in days; empty means no limit. */
  readonly days: string;
  readonly order: string;
}

export const KINDS: readonly { readonly value: string; readonly label: string }[] = [
  { value: "prompt", label: "Prompts" },
  { value: "answer", label: "Answers" },
  { value: "command", label: "Commands" },
  { value: "path", label: "Files" },
  { value: "error", label: "Errors" },
  { value: "agent", label: "Agent tasks" },
];

export function readQuestion(query: string): Question {
  const read = (name: string) => parameter(query, name);
  return {
    words: read("q"),
    kind: read("kind"),
    project: read("project"),
    model: read("model"),
    days: read("days"),
    order: read("order"),
  };
}

export function writeQuestion({ words, ...rest }: Question): string {
  return written({ q: words, ...rest });
}

/** The address of a search request; `now` in seconds. */
export function searchPath(question: Question, now: number, offset: number, limit: number): string {
  const days = Number(question.days);
  return `/api/search?${written({
    q: question.words,
    kinds: question.kind,
    project: question.project,
    model: question.model,
    after: days > 0 ? String(Math.floor(now - days * 86_400)) : "",
    order: question.order,
    limit: String(limit),
    offset: offset > 0 ? String(offset) : "",
  })}`;
}

/**
 * The hits by session, in the order of the first hit of each. A session of the CLI that was resumed
 * here is indexed under its old id; its hits belong to the session that it became.
 */
export function bySession(hits: readonly Hit[], sessions: readonly SessionRow[]): readonly FoundSession[] {
  const rows = new Map(sessions.map((row) => [row.id, row]));
  const became = new Map(
    sessions.filter((row) => row.cli_session_id !== null && row.cli_session_id !== row.id).map((row) => [row.cli_session_id, row]),
  );
  const groups = new Map<string, { row: SessionRow | null; project: string; hits: Hit[] }>();
  for (const hit of hits) {
    const row = rows.get(hit.session) ?? became.get(hit.session) ?? null;
    const id = row?.id ?? hit.session;
    const group = groups.get(id) ?? { row, project: row?.cwd || hit.project, hits: [] };
    groups.set(id, group);
    if (!group.hits.some((known) => known.item === hit.item && known.kind === hit.kind)) group.hits.push(hit);
  }
  return [...groups].map(([id, group]) => ({ id, title: group.row ? titleOf(group.row) : "Deleted session", ...group }));
}
