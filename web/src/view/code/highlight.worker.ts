/** Colours code beside the page. Gives runs of text, never markup, so that nothing has to be trusted. */
import hljs from "highlight.js/lib/core";
import { LANGUAGES } from "./languages.ts";
import type { Asked, Coloured, Run } from "./highlighter.ts";

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#x27;": "'",
};

self.onmessage = async (event: MessageEvent<Asked>): Promise<void> => {
  const { id, code, language } = event.data;
  const answer: Coloured = { id, lines: await colour(code, language) };
  self.postMessage(answer);
};

async function colour(code: string, language: string): Promise<readonly (readonly Run[])[] | null> {
  const load = LANGUAGES[language];
  if (!load) return null;
  if (!hljs.getLanguage(language)) hljs.registerLanguage(language, (await load()).default);
  return lines(hljs.highlight(code, { language, ignoreIllegals: true }).value);
}

/** The library's markup, which has spans and entities and nothing else, as runs by line. */
function lines(markup: string): readonly (readonly Run[])[] {
  const all: Run[][] = [[]];
  const open: string[] = [];
  for (const [piece, name] of markup.matchAll(/<span class="([^"]*)">|<\/span>|[^<]+/g)) {
    if (name !== undefined) open.push(name);
    else if (piece === "</span>") open.pop();
    else take(all, piece, open.at(-1) ?? "");
  }
  return all;
}

function take(all: Run[][], piece: string, name: string): void {
  const text = piece.replace(/&[#\w]+;/g, (entity) => ENTITIES[entity] ?? entity);
  text.split("\n").forEach((part, at) => {
    if (at > 0) all.push([]);
    if (part !== "") all.at(-1)?.push([part, name]);
  });
}
