/** A new session with the history of another up to one of its messages: the dialog that makes it. */
import { isRecording } from "../../../core/sessions/sessions.ts";
import type { App } from "../../app.svelte.ts";

/** Ask how to fork a session at an item, or at its end. */
export function forkFrom(app: App, session: string, item: string | null): void {
  app.forking = { session, at: item };
}

/** Whether this device may fork the session; an imported recording cannot be continued. */
export function mayFork(app: App, session: string): boolean {
  const row = app.session(session);
  return (app.role === "operator" || app.role === "owner") && (row === null || !isRecording(row));
}
