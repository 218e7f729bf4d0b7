/** The card of the call that enters plan mode, which has no content. */
import type { ToolCard } from "../base/card.ts";
import { generic } from "../generic/generic.ts";

export const planMode: ToolCard = {
  ...generic,
  icon: "plan",
  label: () => "Plan mode",
  plainTarget: true,
  target: () => "nothing is changed until a plan is approved",
};
