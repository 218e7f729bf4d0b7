/** What a search found, put together by session; and what was asked, as it stands in an address. Pure. */
import type { SessionRow } from "../protocol/lobby.ts";
import { parameter, written } from "./routes.ts";
import { titleOf } from "./sessions.ts";

export interface Piece {
  readonly text: string;
  readonly match: boolean;
}

/** An item that matches, as `/api/search` tells it. */
export interface Hit {
  readonly session: string;
  readonly item: string;
  readonly kind: string;
  readonly at: number;
  readonly project: string;
  readonly snippet: readonly Piece[];
}

/** The hits of one session. `id` is where to go; the row is missing if it is not listed. */
export interface FoundSession {
  readonly id: string;
  readonly title: string;
  readonly row: SessionRow | null;
  readonly project: string;
  readonly hits: readonly Hit[];
}

/** What is looked for. */
export interface Question {
  readonly words: string;
  readonly kind: string;
  readonly project: string;
  readonly model: string;
  /** How far back, in days; empty is ever. */
  readonly days: string;
  readonly order: string;
}

export const KINDS: readonly { readonly value: string; readonly label: string }[] = [
  { value: "prompt", label: "Prompts" },
  { value: "answer", label: "Answers" },
  { value: "command", label: "Commands" },
  { value: "path", label: "Files" },
  { value: "error", label: "Errors" },
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

/** The address to ask; `now` in seconds. */
export function searchPath(asked: Question, now: number, offset: number, limit: number): string {
  const days = Number(asked.days);
  return `/api/search?${written({
    q: asked.words,
    kinds: asked.kind,
    project: asked.project,
    model: asked.model,
    after: days > 0 ? String(Math.floor(now - days * 86_400)) : "",
    order: asked.order,
    limit: String(limit),
    offset: offset > 0 ? String(offset) : "",
  })}`;
}

/**
 * The hits by session, in the order of each one's first. A session of the CLI that was resumed here
 * is found under its old id; its hits belong to the session it became.
 */
export function bySession(hits: readonly Hit[], sessions: readonly SessionRow[]): readonly FoundSession[] {
  const rows = new Map(sessions.map((row) => [row.id, row]));
  const became = new Map(
    sessions.filter((row) => row.cli_session_id !== null && row.cli_session_id !== row.id).map((row) => [row.cli_session_id, row]),
  );
  const found = new Map<string, { row: SessionRow | null; project: string; hits: Hit[] }>();
  for (const hit of hits) {
    const row = rows.get(hit.session) ?? became.get(hit.session) ?? null;
    const id = row?.id ?? hit.session;
    const group = found.get(id) ?? { row, project: row?.cwd || hit.project, hits: [] };
    found.set(id, group);
    if (!group.hits.some((one) => one.item === hit.item && one.kind === hit.kind)) group.hits.push(hit);
  }
  return [...found].map(([id, group]) => ({ id, title: group.row ? titleOf(group.row) : "A session that is no longer listed", ...group }));
}
