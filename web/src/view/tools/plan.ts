/** The card of a plan. */
import type { ToolCard } from "./card.ts";
import PlanTool from "./PlanTool.svelte";

export const plan: ToolCard = {
  icon: "plan",
  label: () => "Plan",
  plainTarget: true,
  target: () => "",
  outcome: (item) => (item.state === "done" ? [{ text: "approved", tone: "ok" }] : []),
  // While it waits, it is read where it is answered.
  opens: (item) => item.state !== "denied" && item.state !== "awaiting",
  body: PlanTool,
};
