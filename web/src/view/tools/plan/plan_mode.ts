/** The card of the step into plan mode, which has nothing to say but that it was taken. */
import type { ToolCard } from "../base/card.ts";
import { generic } from "../generic/generic.ts";

export const planMode: ToolCard = {
  ...generic,
  icon: "plan",
  label: () => "Plan mode",
  plainTarget: true,
  target: () => "nothing is changed until a plan is approved",
};
