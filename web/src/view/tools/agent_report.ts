/** What a subagent reported, without what the CLI adds for the model. Pure. */
import { fieldsOf, listOf, textOf } from "./fields.ts";

const ASIDE = /<tools-used-before-summary>[\s\S]*?<\/tools-used-before-summary>\s*/g;
const TAIL = /\nagentId: [\s\S]*$/;

export function reportOf(structured: unknown, result: string): string {
  const blocks = listOf(fieldsOf(structured)["content"]).map((block) => textOf(block, "text"));
  const text = blocks.length ? blocks.join("\n\n") : result.replace(TAIL, "");
  return text.replace(ASIDE, "").trim();
}
