/** Colors code in the page itself: an exported file has no second file for a worker. */
import hljs from "highlight.js/lib/core";
import { LANGUAGES } from "../code/languages.ts";
import { runsOf, type Run } from "../code/runs.ts";

export type { Run };

/** Shorter than in the app, because the page does nothing else meanwhile. */
const LONGEST = 60_000;

/** Lines of colored runs; null if the language is not known or the code is too long. */
export async function highlight(code: string, language: string | null): Promise<readonly (readonly Run[])[] | null> {
  const load = language === null ? undefined : LANGUAGES[language];
  if (language === null || !load || code.length > LONGEST) return null;
  if (!hljs.getLanguage(language)) hljs.registerLanguage(language, (await load()).default);
  return runsOf(hljs.highlight(code, { language, ignoreIllegals: true }).value);
}
