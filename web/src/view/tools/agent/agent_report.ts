/** The report of a subagent, without the text that the CLI adds for the model. Pure. */
import { fieldsOf, listOf, textOf } from "../../../core/plain.ts";

const ASIDE = ["<tools-used-before-summary>", "</tools-used-before-summary>"] as const;
const TAIL = /\nagentId: [\s\S]*$/;

export function reportOf(structured: unknown, result: string): string {
  const blocks = listOf(fieldsOf(structured)["content"]).map((block) => textOf(block, "text"));
  const text = blocks.length ? blocks.join("\n\n") : result.replace(TAIL, "");
  return withoutAsides(text).trim();
}

/** One search for each end: many beginnings without an end must not each search the whole text. */
function withoutAsides(text: string): string {
  const [opening, closing] = ASIDE;
  let rest = "";
  let at = 0;
  for (;;) {
    const start = text.indexOf(opening, at);
    const end = start < 0 ? -1 : text.indexOf(closing, start);
    if (end < 0) return rest + text.slice(at);
    rest += text.slice(at, start);
    at = end + closing.length;
    while (/\s/.test(text.charAt(at))) at += 1;
  }
}
