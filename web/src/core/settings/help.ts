/** The commands, tools, agents and skills of a session, searchable. Pure. */
import type { Session } from "../../protocol/transcript.ts";
import { slashCommands } from "../matching.ts";

export interface HelpEntry {
  readonly name: string;
  readonly hint: string;
  readonly about: string;
  readonly tone: "" | "ok" | "bad";
}

export interface HelpSection {
  readonly title: string;
  readonly about: string;
  readonly entries: readonly HelpEntry[];
}

export interface Help {
  readonly sections: readonly HelpSection[];
  readonly facts: readonly (readonly [string, string])[];
}

/** What the CLI's built-in tools do; a tool that is not listed has no description. */
const TOOLS: Readonly<Record<string, string>> = {
  Agent: "Delegates a task to a subagent",
  AskUserQuestion: "Asks you, with choices",
  Bash: "Runs a shell command",
  BashOutput: "Reads the output of a background command",
  Edit: "Edits part of a file",
  EnterPlanMode: "Enters plan mode",
  EnterWorktree: "Works in a git worktree",
  ExitPlanMode: "Shows a plan for you to approve",
  Glob: "Finds files by their names",
  Grep: "Finds lines by their text",
  KillShell: "Stops a background command",
  KillBash: "Stops a background command",
  LSP: "Asks the language server",
  ListMcpResourcesTool: "Lists what MCP servers offer to read",
  MultiEdit: "Edits several parts of a file",
  NotebookEdit: "Edits a notebook cell",
  Read: "Reads a file",
  ReadMcpResourceTool: "Reads what an MCP server offers",
  SendMessage: "Sends a message to another agent",
  Skill: "Follows a skill",
  Task: "Delegates a task to a subagent",
  TaskCreate: "Adds a task to its list",
  TaskGet: "Reads a task",
  TaskList: "Reads its task list",
  TaskOutput: "Reads the output of a background task",
  TaskStop: "Stops a background task",
  TaskUpdate: "Changes a task",
  TodoWrite: "Writes its task list",
  ToolSearch: "Finds tools that are loaded on demand",
  WebFetch: "Reads a web page",
  WebSearch: "Searches the web",
  Write: "Writes a whole file",
};

/** All entries, or those whose name or description contains `words`. */
export function helpOf(session: Session, words = ""): Help {
  const own = session.tools.filter((name) => !name.startsWith("mcp__"));
  const sections: readonly HelpSection[] = [
    section("Slash commands", "Typed at the start of a message.", slashCommands(session.commands).map((command) => entry(`/${command.name}`, command.description, command.hint))),
    section("Tools", "Tools of the model. The permission mode decides which of them ask first.", own.map((name) => entry(name, TOOLS[name] ?? ""))),
    ...mcpSections(session),
    section("Agents", "Agents that the model can delegate work to.", session.agents.map((name) => entry(name, ""))),
    section("Skills", "Instructions that the model follows when they apply.", session.skills.map((name) => entry(name, ""))),
    section("Plugins", "", session.plugins.map(plugin)),
    section("Only in a terminal", "Commands that work only in a terminal. The app replaces them here.", session.terminal_commands.map((name) => entry(`/${name}`, ""))),
  ];
  const query = words.trim().toLowerCase();
  return {
    sections: sections
      .map((section) => ({ ...section, entries: section.entries.filter((each) => matches(each, query)) }))
      .filter((section) => section.entries.length > 0),
    facts: [["Claude Code", session.version ?? "unknown"], ["Model", session.model ?? "unknown"]],
  };
}

function mcpSections(session: Session): readonly HelpSection[] {
  const servers = session.mcp_servers.map(fields).map((server) => {
    const status = text(server["status"]) || "unknown";
    const about = text(server["error"]) || status.replaceAll("_", " ");
    return entry(text(server["name"]), about, "", status === "connected" ? "ok" : status === "failed" ? "bad" : "");
  });
  const tools = session.tools.filter((name) => name.startsWith("mcp__")).map((name) => {
    const [, server = "", ...rest] = name.split("__");
    return entry(rest.join("__").replaceAll("_", " "), server);
  });
  return [section("MCP servers", "", servers), section("Tools of MCP servers", "", tools)];
}

function plugin(value: unknown): HelpEntry {
  if (typeof value === "string") return entry(value, "");
  const known = fields(value);
  return entry(text(known["name"]), text(known["description"]) || text(known["path"]), text(known["version"]));
}

function section(title: string, about: string, all: readonly HelpEntry[]): HelpSection {
  const seen = new Map(all.filter((each) => each.name !== "").map((each) => [`${each.name} ${each.about}`, each]));
  return { title, about, entries: [...seen.values()].sort((a, b) => a.name.localeCompare(b.name)) };
}

function entry(name: string, about: string, hint = "", tone: HelpEntry["tone"] = ""): HelpEntry {
  return { name, about, hint, tone };
}

function matches(each: HelpEntry, query: string): boolean {
  return query === "" || `${each.name} ${each.about}`.toLowerCase().includes(query);
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
