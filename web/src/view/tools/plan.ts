/** The card of a plan. */
import type { ToolCard } from "./card.ts";
import PlanTool from "./PlanTool.svelte";

export const plan: ToolCard = {
  icon: "plan",
  label: () => "Plan",
  plainTarget: true,
  target: () => "",
  outcome: (item) => (item.state === "done" ? [{ text: "approved", tone: "ok" }] : []),
  opens: (item) => item.state !== "denied",
  body: PlanTool,
};
