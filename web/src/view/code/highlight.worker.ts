/** Colours code beside the page. Gives runs of text, never markup, so that nothing has to be trusted. */
import hljs from "highlight.js/lib/core";
import { LANGUAGES } from "./languages.ts";
import { runsOf, type Run } from "./runs.ts";
import type { Asked, Coloured } from "./highlighter.ts";

self.onmessage = async (event: MessageEvent<Asked>): Promise<void> => {
  const { id, code, language } = event.data;
  const answer: Coloured = { id, lines: await colour(code, language) };
  self.postMessage(answer);
};

async function colour(code: string, language: string): Promise<readonly (readonly Run[])[] | null> {
  const load = LANGUAGES[language];
  if (!load) return null;
  if (!hljs.getLanguage(language)) hljs.registerLanguage(language, (await load()).default);
  return runsOf(hljs.highlight(code, { language, ignoreIllegals: true }).value);
}
