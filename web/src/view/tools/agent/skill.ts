/** The card of a skill. */
import type { ToolCard } from "../base/card.ts";
import { fieldsOf, textOf } from "../../../core/plain.ts";
import GenericTool from "../generic/GenericTool.svelte";

export const skill: ToolCard = {
  icon: "skill",
  target: (item) => `${textOf(item.input, "skill") || textOf(item.input, "command")} ${textOf(item.input, "args")}`.trim(),
  outcome: (item) => (fieldsOf(item.structured)["success"] === true ? [{ text: "loaded", tone: "ok" }] : []),
  opens: (item) => item.state === "failed",
  body: GenericTool,
};
