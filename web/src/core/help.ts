/** What a session can do, as its CLI told, in parts that can be searched. Pure. */
import type { Session } from "../protocol/transcript.ts";
import { slashCommands } from "./matching.ts";

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

/** What the CLI's own tools do, in one line each; a tool that is not listed speaks for itself. */
const TOOLS: Readonly<Record<string, string>> = {
  Agent: "Gives a task to another agent",
  AskUserQuestion: "Asks you, with choices",
  Bash: "Runs a command in a shell",
  BashOutput: "Reads what a background command wrote",
  Edit: "Changes a part of a file",
  EnterPlanMode: "Begins to plan",
  EnterWorktree: "Works in a copy of the repository",
  ExitPlanMode: "Shows a plan for you to approve",
  Glob: "Finds files by their names",
  Grep: "Finds lines by their text",
  KillShell: "Ends a background command",
  KillBash: "Ends a background command",
  LSP: "Asks the language server",
  ListMcpResourcesTool: "Lists what MCP servers offer to read",
  MultiEdit: "Changes several parts of a file",
  NotebookEdit: "Changes a cell of a notebook",
  Read: "Reads a file",
  ReadMcpResourceTool: "Reads what an MCP server offers",
  SendMessage: "Writes to another agent",
  Skill: "Follows a skill",
  Task: "Gives a task to another agent",
  TaskCreate: "Adds to its list of things to do",
  TaskGet: "Reads one thing to do",
  TaskList: "Reads its list of things to do",
  TaskOutput: "Reads what a background task wrote",
  TaskStop: "Ends a background task",
  TaskUpdate: "Changes one thing to do",
  TodoWrite: "Writes its list of things to do",
  ToolSearch: "Finds tools that are loaded on demand",
  WebFetch: "Reads a page of the web",
  WebSearch: "Searches the web",
  Write: "Writes a whole file",
};

/** Everything, or what has some letters in its name or description. */
export function helpOf(session: Session, words = ""): Help {
  const own = session.tools.filter((name) => !name.startsWith("mcp__"));
  const sections: readonly HelpSection[] = [
    section("Slash commands", "Typed at the start of a message.", slashCommands(session.commands).map((one) => entry(`/${one.name}`, one.description, one.hint))),
    section("Tools", "What the model can do; most ask first, as the mode says.", own.map((name) => entry(name, TOOLS[name] ?? ""))),
    ...mcpSections(session),
    section("Agents", "Whom the model can give a part of the work.", session.agents.map((name) => entry(name, ""))),
    section("Skills", "Written instructions it follows when they fit.", session.skills.map((name) => entry(name, ""))),
    section("Plugins", "", session.plugins.map(plugin)),
    section("Only in a terminal", "Commands of the CLI that work in its own screen; here the app does their work.", session.terminal_commands.map((name) => entry(`/${name}`, ""))),
  ];
  const letters = words.trim().toLowerCase();
  return {
    sections: sections
      .map((one) => ({ ...one, entries: one.entries.filter((each) => fits(each, letters)) }))
      .filter((one) => one.entries.length > 0),
    facts: [["Claude Code", session.version ?? "not told yet"], ["Model", session.model ?? "not told yet"]],
  };
}

function mcpSections(session: Session): readonly HelpSection[] {
  const servers = session.mcp_servers.map(fields).map((one) => {
    const status = text(one["status"]) || "unknown";
    const told = text(one["error"]) || status.replaceAll("_", " ");
    return entry(text(one["name"]), told, "", status === "connected" ? "ok" : status === "failed" ? "bad" : "");
  });
  const tools = session.tools.filter((name) => name.startsWith("mcp__")).map((name) => {
    const [, server = "", ...rest] = name.split("__");
    return entry(rest.join("__").replaceAll("_", " "), server);
  });
  return [section("MCP servers", "", servers), section("Tools of MCP servers", "", tools)];
}

function plugin(value: unknown): HelpEntry {
  if (typeof value === "string") return entry(value, "");
  const given = fields(value);
  return entry(text(given["name"]), text(given["description"]) || text(given["path"]), text(given["version"]));
}

function section(title: string, about: string, all: readonly HelpEntry[]): HelpSection {
  const seen = new Map(all.filter((one) => one.name !== "").map((one) => [`${one.name} ${one.about}`, one]));
  return { title, about, entries: [...seen.values()].sort((a, b) => a.name.localeCompare(b.name)) };
}

function entry(name: string, about: string, hint = "", tone: HelpEntry["tone"] = ""): HelpEntry {
  return { name, about, hint, tone };
}

function fits(one: HelpEntry, letters: string): boolean {
  return letters === "" || `${one.name} ${one.about}`.toLowerCase().includes(letters);
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
