/** What can be done with a session from the list: which, in words, and doing it. */
import { isForeign } from "../../core/sessions.ts";
import { isElsewhere } from "../../core/status.ts";
import type { SessionRow } from "../../protocol/lobby.ts";
import type { App } from "../app.svelte.ts";
import type { IconName } from "../parts/icons.ts";

/** A line of the menu. */
interface Deed {
  readonly value: string;
  readonly label: string;
  readonly icon: IconName;
  readonly about?: string;
}

/** The deeds that make sense for a session as it is. */
export function actionsFor(row: SessionRow): readonly Deed[] {
  if (isForeign(row)) {
    const fork: Deed = { value: "fork", label: "Fork", icon: "branch", about: "A session of its own here, with this history" };
    if (isElsewhere(row.status)) return [fork];
    return [{ value: "resume", label: "Resume here", icon: "restart", about: "Made by the CLI elsewhere; read-only until then" }, fork];
  }
  return [
    { value: "rename", label: "Rename", icon: "edit" },
    { value: "pin", label: row.pinned ? "Unpin" : "Pin", icon: "pin" },
    { value: "fork", label: "Fork", icon: "branch", about: "A new session with this history" },
    row.live
      ? { value: "stop", label: "End the process", icon: "stop", about: "It can be resumed" }
      : { value: "resume", label: "Resume", icon: "restart" },
    { value: "archive", label: row.archived ? "Bring back" : "Archive", icon: "archive" },
  ];
}

/** Do one of them; renaming is up to the caller, because it needs a field. */
export async function act(app: App, row: SessionRow, action: string): Promise<void> {
  if (action === "pin") await app.send({ kind: "pin", session: row.id, pinned: !row.pinned });
  else if (action === "archive") await app.send({ kind: "archive", session: row.id, archived: !row.archived });
  else if (action === "stop") await app.send({ kind: "stop", session: row.id });
  else if (action === "fork") app.forking = { session: row.id, at: null };
  else if (action === "resume") {
    const result = await app.send({ kind: "resume", session: row.id });
    const id = result.result["session"];
    if (result.ok && typeof id === "string") app.go({ page: "session", id });
  }
}
