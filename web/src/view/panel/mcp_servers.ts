/** The MCP servers of a session: their state, their tools and the actions that help. Pure. */
import { fieldsOf, textOf } from "../../core/plain.ts";

export interface Server {
  readonly name: string;
  readonly status: string;
  readonly error: string;
  readonly source: string;
  /** The names of its tools, without the server's own. */
  readonly tools: readonly string[];
}

const STATUSES: Readonly<Record<string, readonly [label: string, tone: "ok" | "bad" | "wait" | "quiet"]>> = {
  connected: ["connected", "ok"],
  failed: ["failed", "bad"],
  "needs-auth": ["needs sign-in", "wait"],
  needs_auth: ["needs sign-in", "wait"],
  pending: ["connecting", "wait"],
  disabled: ["off", "quiet"],
};

/** The servers, each with its tools from the session's list. */
export function serversOf(listed: readonly unknown[], tools: readonly string[]): readonly Server[] {
  return listed
    .map((server) => {
      const name = textOf(server, "name");
      const begin = `mcp__${name.replace(/[^a-zA-Z0-9_-]/g, "_")}__`;
      return {
        name,
        status: textOf(server, "status") || "unknown",
        error: textOf(server, "error"),
        source: textOf(server, "source") || textOf(fieldsOf(server), "scope"),
        tools: tools.filter((tool) => tool.startsWith(begin)).map((tool) => tool.slice(begin.length)),
      };
    })
    .filter((server) => server.name !== "");
}

/** The label and the color of a status. */
export function statusOf(server: Server): { readonly label: string; readonly tone: "ok" | "bad" | "wait" | "quiet" } {
  const [label, tone] = STATUSES[server.status] ?? [server.status.replaceAll(/[_-]/g, " "), "quiet"];
  return { label, tone: server.error && tone !== "wait" ? "bad" : tone };
}

/** The actions that a server allows now. */
export function deedsFor(server: Server): { readonly signIn: boolean; readonly reconnect: boolean; readonly on: boolean } {
  const on = server.status !== "disabled";
  const signIn = /^needs.auth$/.test(server.status);
  return { on, signIn, reconnect: on && !signIn && server.status !== "pending" };
}
