/** The form for a new session as an intent, or what is wrong with it. Pure. */
import type { NewSession } from "../../protocol/intents.ts";
import { fieldsOf } from "../../core/plain.ts";

export interface NewSessionForm {
  readonly cwd: string;
  readonly prompt: string;
  readonly verbatim: boolean;
  readonly title: string;
  readonly model: string;
  readonly mode: string;
  readonly effort: string;
  /** The name of a profile; empty for the default one. */
  readonly profile: string;
  readonly turns: number | null;
  readonly budget: number | null;
  readonly latest: boolean;
  readonly denied: string;
  readonly allowed: string;
  readonly servers: string;
  /** Additional folders to work in, and folders of plugins: one on each line. */
  readonly folders: string;
  readonly plugins: string;
}

type Outcome = { readonly intent: NewSession } | { readonly problem: string };

/** The intent, or the problem as a sentence. */
export function newSessionIntent(form: NewSessionForm): Outcome {
  const servers = serversIn(form.servers);
  if (typeof servers === "string") return { problem: servers };
  const cwd = form.cwd.trim();
  if (cwd === "") return { problem: "Choose a folder to work in." };
  return {
    intent: {
      kind: "new_session",
      cwd,
      prompt: form.prompt.trim() === "" ? null : form.prompt,
      verbatim: form.verbatim,
      title: form.title.trim() || null,
      model: form.model.trim() || null,
      mode: form.mode || null,
      effort: form.effort || null,
      profile: form.profile || null,
      max_turns: form.turns,
      max_budget_usd: form.budget,
      continue_latest: form.latest,
      disallowed_tools: rulesIn(form.denied),
      allowed_tools: rulesIn(form.allowed),
      mcp_servers: servers,
      add_dirs: linesIn(form.folders),
      plugin_dirs: linesIn(form.plugins),
    },
  };
}

/** The lines of a text that are not blank. */
export function linesIn(text: string): readonly string[] {
  return text.split("\n").map((line) => line.trim()).filter(Boolean);
}

/** Rules from a text, one per line or separated by commas; a comma within brackets belongs to a rule. */
export function rulesIn(text: string): readonly string[] {
  const rules: string[] = [];
  let rule = "";
  let depth = 0;
  for (const character of `${text}\n`) {
    if (character === "(") depth += 1;
    if (character === ")") depth = Math.max(0, depth - 1);
    if (character !== "\n" && (character !== "," || depth > 0)) {
      rule += character;
      continue;
    }
    depth = 0;
    if (rule.trim()) rules.push(rule.trim());
    rule = "";
  }
  return [...new Set(rules)];
}

type Servers = { readonly [name: string]: { readonly [key: string]: unknown } };

/** Configurations by name from JSON, with or without `mcpServers` around them; otherwise the problem. */
export function serversIn(text: string): Servers | string {
  if (text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (problem) {
    return `The MCP servers are not JSON: ${problem instanceof Error ? problem.message : "invalid text"}.`;
  }
  const all = fieldsOf(fieldsOf(value)["mcpServers"] ?? value);
  const names = Object.keys(all);
  if (names.length === 0) return 'MCP servers need names, for example {"name": {"command": "…"}}.';
  for (const name of names) {
    const server = fieldsOf(all[name]);
    if (typeof server["command"] === "string" || typeof server["url"] === "string") continue;
    return `The MCP server “${name}” needs a command or a url.`;
  }
  return all as Servers;
}
