/** The MCP servers of a session as they are shown: what they are, what they offer, what helps. Pure. */
import { fieldsOf, textOf } from "../tools/fields.ts";

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
  "needs-auth": ["needs a sign-in", "wait"],
  needs_auth: ["needs a sign-in", "wait"],
  pending: ["connecting", "wait"],
  disabled: ["off", "quiet"],
};

/** The servers by their names, each with its tools of the session's list. */
export function serversOf(listed: readonly unknown[], tools: readonly string[]): readonly Server[] {
  return listed
    .map((one) => {
      const name = textOf(one, "name");
      const begin = `mcp__${name.replace(/[^a-zA-Z0-9_-]/g, "_")}__`;
      return {
        name,
        status: textOf(one, "status") || "unknown",
        error: textOf(one, "error"),
        source: textOf(one, "source") || textOf(fieldsOf(one), "scope"),
        tools: tools.filter((tool) => tool.startsWith(begin)).map((tool) => tool.slice(begin.length)),
      };
    })
    .filter((server) => server.name !== "");
}

/** A status in words, and its colour. */
export function statusOf(server: Server): { readonly label: string; readonly tone: "ok" | "bad" | "wait" | "quiet" } {
  const [label, tone] = STATUSES[server.status] ?? [server.status.replaceAll(/[_-]/g, " "), "quiet"];
  return { label, tone: server.error && tone !== "wait" ? "bad" : tone };
}

/** What can be done about a server now. */
export function deedsFor(server: Server): { readonly signIn: boolean; readonly reconnect: boolean; readonly on: boolean } {
  const on = server.status !== "disabled";
  const signIn = /^needs.auth$/.test(server.status);
  return { on, signIn, reconnect: on && !signIn && server.status !== "pending" };
}
