/** A new session with the history of another up to one of its messages; goes there when it is made. */
import type { App } from "../app.svelte.ts";

/** Fork a session at an item, or at its end. The server's refusal is shown by the app. */
export async function forkFrom(app: App, session: string, item: string | null): Promise<void> {
  const result = await app.send({ kind: "fork", session, at: item });
  const id = result.result["session"];
  if (result.ok && typeof id === "string") app.go({ page: "session", id });
}

/** Whether somebody may fork. */
export function mayFork(role: string): boolean {
  return role === "operator" || role === "owner";
}
