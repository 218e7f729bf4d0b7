/** The card of a plan. */
import type { ToolCard } from "../base/card.ts";
import PlanTool from "./PlanTool.svelte";

export const plan: ToolCard = {
  icon: "plan",
  label: () => "Plan",
  plainTarget: true,
  target: () => "",
  outcome: (item) => (item.state === "done" ? [{ text: "approved", tone: "ok" }] : []),
  denied: "not approved",
  // While it is pending, the decision shows it. A rejected plan stays next to the comment on it.
  opens: (item) => item.state !== "awaiting",
  body: PlanTool,
};
