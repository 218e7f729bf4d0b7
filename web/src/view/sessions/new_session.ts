/** From what is filled in to the wish for a new session, with words for what is wrong. Pure. */
import type { NewSession } from "../../protocol/intents.ts";
import { fieldsOf } from "../tools/fields.ts";

export interface Filled {
  readonly cwd: string;
  readonly prompt: string;
  readonly title: string;
  readonly model: string;
  readonly mode: string;
  readonly effort: string;
  readonly turns: number | null;
  readonly budget: number | null;
  readonly latest: boolean;
  readonly denied: string;
  readonly allowed: string;
  readonly servers: string;
}

type Made = { readonly intent: NewSession } | { readonly problem: string };

/** The intent, or what keeps it from being one. */
export function wished(filled: Filled): Made {
  const servers = serversIn(filled.servers);
  if (typeof servers === "string") return { problem: servers };
  const cwd = filled.cwd.trim();
  if (cwd === "") return { problem: "Choose a folder to work in." };
  return {
    intent: {
      kind: "new_session",
      cwd,
      prompt: filled.prompt.trim() === "" ? null : filled.prompt,
      title: filled.title.trim() || null,
      model: filled.model.trim() || null,
      mode: filled.mode || null,
      effort: filled.effort || null,
      max_turns: filled.turns,
      max_budget_usd: filled.budget,
      continue_latest: filled.latest,
      disallowed_tools: rulesIn(filled.denied),
      allowed_tools: rulesIn(filled.allowed),
      mcp_servers: servers,
    },
  };
}

/** Rules from a text, one on each line or between commas; a comma within brackets is part of one. */
export function rulesIn(text: string): readonly string[] {
  const rules: string[] = [];
  let rule = "";
  let depth = 0;
  for (const letter of `${text}\n`) {
    if (letter === "(") depth += 1;
    if (letter === ")") depth = Math.max(0, depth - 1);
    if (letter !== "\n" && (letter !== "," || depth > 0)) {
      rule += letter;
      continue;
    }
    depth = 0;
    if (rule.trim()) rules.push(rule.trim());
    rule = "";
  }
  return [...new Set(rules)];
}

type Servers = { readonly [name: string]: { readonly [key: string]: unknown } };

/** Configurations by name from JSON, with or without `mcpServers` around them; else what is wrong. */
export function serversIn(text: string): Servers | string {
  if (text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (problem) {
    return `The MCP servers are not JSON: ${problem instanceof Error ? problem.message : "it cannot be read"}.`;
  }
  const all = fieldsOf(fieldsOf(value)["mcpServers"] ?? value);
  const names = Object.keys(all);
  if (names.length === 0) return 'The MCP servers need names, as {"name": {"command": "…"}}.';
  for (const name of names) {
    const one = fieldsOf(all[name]);
    if (typeof one["command"] === "string" || typeof one["url"] === "string") continue;
    return `The MCP server “${name}” needs a command or a url.`;
  }
  return all as Servers;
}
