/** A new session with the history of another up to one of its messages: the dialog that makes it. */
import type { App } from "../app.svelte.ts";

/** Ask how to fork a session at an item, or at its end. */
export function forkFrom(app: App, session: string, item: string | null): void {
  app.forking = { session, at: item };
}

/** Whether somebody may fork. */
export function mayFork(app: App): boolean {
  return app.role === "operator" || app.role === "owner";
}
