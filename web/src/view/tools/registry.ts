/**
 * Which card shows which tool, by the tool's exact name; whatever is not here gets the generic one.
 * Tools of MCP servers have names made of three parts, so they are asked for by their beginning.
 */
import { agent } from "./agent.ts";
import { bash } from "./bash.ts";
import type { ToolCard } from "./card.ts";
import { edit, write } from "./file_change.ts";
import { generic } from "./generic.ts";
import { mcp } from "./mcp.ts";
import { notebook } from "./notebook.ts";
import { plan } from "./plan.ts";
import { planMode } from "./plan_mode.ts";
import { question } from "./question.ts";
import { read } from "./read.ts";
import { search } from "./search.ts";
import { skill } from "./skill.ts";
import { todo } from "./todo.ts";
import { fetchPage, searchWeb } from "./web.ts";

const cards: Readonly<Record<string, ToolCard>> = {
  Agent: agent,
  AskUserQuestion: question,
  Bash: bash,
  Edit: edit,
  EnterPlanMode: planMode,
  ExitPlanMode: plan,
  Glob: search,
  Grep: search,
  MultiEdit: edit,
  NotebookEdit: notebook,
  PowerShell: bash,
  Read: read,
  Skill: skill,
  Task: agent,
  TaskCreate: todo,
  TaskGet: todo,
  TaskList: todo,
  TaskUpdate: todo,
  TodoWrite: todo,
  WebFetch: fetchPage,
  WebSearch: searchWeb,
  Write: write,
};

/** The card for a tool. */
export function cardFor(name: string): ToolCard {
  if (name.startsWith("mcp__")) return mcp;
  return Object.hasOwn(cards, name) ? (cards[name] ?? generic) : generic;
}
