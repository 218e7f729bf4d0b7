/** The card of a subagent. */
import AgentTool from "./AgentTool.svelte";
import type { ToolCard } from "../base/card.ts";
import { textOf } from "../../../core/plain.ts";

export const agent: ToolCard = {
  icon: "agent",
  label: (item) => textOf(item.input, "subagent_type") || "Subagent",
  plainTarget: true,
  target: (item) => textOf(item.input, "description"),
  outcome: () => [], // Steps, tokens and time are in the line of the steps.
  opens: (item) => item.state === "failed",
  body: AgentTool,
};
