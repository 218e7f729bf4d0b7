/**
 * Which card shows which tool, by the tool's exact name; any other tool gets the generic card.
 * Tools of MCP servers have names of three parts and are matched by their prefix.
 */
import { agent } from "./agent/agent.ts";
import { bash } from "./bash/bash.ts";
import type { ToolCard } from "./base/card.ts";
import { edit, write } from "./edit/file_change.ts";
import { generic } from "./generic/generic.ts";
import { mcp } from "./mcp/mcp.ts";
import { notebook } from "./notebook/notebook.ts";
import { plan } from "./plan/plan.ts";
import { planMode } from "./plan/plan_mode.ts";
import { question } from "./question/question.ts";
import { read } from "./read/read.ts";
import { search } from "./search/search.ts";
import { skill } from "./agent/skill.ts";
import { todo } from "./todo/todo.ts";
import { fetchPage, searchWeb } from "./web/web.ts";

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
