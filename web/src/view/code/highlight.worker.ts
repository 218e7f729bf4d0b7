/** Highlights code in a worker. Returns runs of text, never markup, so that nothing has to be trusted. */
import hljs from "highlight.js/lib/core";
import { LANGUAGES } from "./languages.ts";
import { runsOf, type Run } from "./runs.ts";
import type { Asked, Colored } from "./highlighter.ts";

self.onmessage = async (event: MessageEvent<Asked>): Promise<void> => {
  const { id, code, language } = event.data;
  const answer: Colored = { id, lines: await color(code, language) };
  self.postMessage(answer);
};

async function color(code: string, language: string): Promise<readonly (readonly Run[])[] | null> {
  const load = LANGUAGES[language];
  if (!load) return null;
  if (!hljs.getLanguage(language)) hljs.registerLanguage(language, (await load()).default);
  return runsOf(hljs.highlight(code, { language, ignoreIllegals: true }).value);
}
