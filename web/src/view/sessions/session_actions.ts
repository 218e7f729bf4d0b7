/** The menu of a session in the list, and what its entries do. */
import { isForeign, isRecording } from "../../core/sessions/sessions.ts";
import { isElsewhere, shownStatus } from "../../core/sessions/status.ts";
import type { SessionRow } from "../../protocol/lobby.ts";
import type { App } from "../app.svelte.ts";
import type { IconName } from "../parts/icons.ts";

/** A menu entry. */
interface MenuAction {
  readonly value: string;
  readonly label: string;
  readonly icon: IconName;
  readonly about?: string;
  readonly bad?: boolean;
  readonly apart?: boolean;
}

/** The actions that the session allows now. */
export function actionsFor(row: SessionRow, role: string, machines = 0): readonly MenuAction[] {
  if (isForeign(row)) {
    const fork: MenuAction = { value: "fork", label: "Fork", icon: "branch", about: "A new session here with this history" };
    if (isElsewhere(row.status)) return [fork, EXPORT];
    return [{ value: "resume", label: "Resume here", icon: "restart", about: "Created in the terminal; read-only until resumed" }, fork, EXPORT, ...deleteActions(row, role)];
  }
  return [
    { value: "rename", label: "Rename", icon: "edit" },
    { value: "pin", label: row.pinned ? "Unpin" : "Pin", icon: "pin" },
    { value: "tags", label: "Tags…", icon: "tag" },
    ...(isRecording(row) ? [] : [{ value: "fork", label: "Fork", icon: "branch", about: "A new session with this history" } as const, ...processActions(row)]),
    ...moveActions(row, role, machines),
    { ...EXPORT, apart: true },
    ...archiveActions(row),
    ...deleteActions(row, role),
  ];
}

export const EXPORT: MenuAction = { value: "export", label: "Export…", icon: "arrowDown" };

/** Only an owner moves a session, and only if there is another machine. */
export function moveActions(row: SessionRow, role: string, machines: number): readonly MenuAction[] {
  if (role !== "owner" || machines < 2 || row.node === "" || isRecording(row)) return [];
  return [{ value: "move", label: "Move to another machine…", icon: "system" }];
}

/** Only an owner deletes, and no session that is in a turn. */
export function deleteActions(row: SessionRow, role: string): readonly MenuAction[] {
  if (role !== "owner" || shownStatus(row.status).busy || row.pending > 0) return [];
  return [{ value: "delete", label: "Delete…", icon: "trash", bad: true }];
}

function processActions(row: SessionRow): readonly MenuAction[] {
  if (row.live) return [{ value: "stop", label: "Stop process", icon: "stop", about: "The session can be resumed" }];
  return row.resume_problem === null ? [{ value: "resume", label: "Resume", icon: "restart" }] : [];
}

/** The server does not archive a session that is in a turn. */
export function archiveActions(row: SessionRow): readonly MenuAction[] {
  if (!row.archived && (shownStatus(row.status).busy || row.pending > 0)) return [];
  return [{ value: "archive", label: row.archived ? "Unarchive" : "Archive", icon: "archive", apart: true }];
}

/** Run an action. The caller handles "rename", because it needs a text field. */
export async function act(app: App, row: SessionRow, action: string): Promise<void> {
  if (action === "pin") await app.send({ kind: "pin", session: row.id, pinned: !row.pinned });
  else if (action === "archive") await archive(app, row);
  else if (action === "stop") await app.send({ kind: "stop", session: row.id });
  else if (action === "tags") app.asking = { kind: "tags", sessions: [row.id] };
  else if (action === "export") app.asking = { kind: "export", session: row.id };
  else if (action === "move") app.asking = { kind: "move", session: row.id };
  else if (action === "delete") app.asking = { kind: "delete", sessions: [row.id] };
  else if (action === "fork") app.forking = { session: row.id, at: null };
  else if (action === "resume") {
    const result = await app.send({ kind: "resume", session: row.id });
    const id = result.result["session"];
    if (result.ok && typeof id === "string") app.go({ page: "session", id });
  }
}

/** Archive or unarchive a session; the message about archiving offers to undo it. */
async function archive(app: App, row: SessionRow): Promise<void> {
  const archived = !row.archived;
  const result = await app.send({ kind: "archive", session: row.id, archived });
  if (!result.ok || !archived) return;
  const undo = (): void => void app.send({ kind: "archive", session: row.id, archived: false });
  app.say(row.live ? "Archived; its process was stopped" : "Archived", "plain", { label: "Undo", act: undo });
}
