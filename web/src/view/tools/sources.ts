/** The sources and the words of a search of the web or a fetched page. Pure. */
import { fieldsOf, listOf, textOf } from "./fields.ts";

export interface Source {
  readonly title: string;
  readonly url: string;
}

const LINKS = /^Links: (\[.*\])$/m;

/** Where it came from: from the structured result, else from the list the CLI prints. */
export function sourcesOf(structured: unknown, result: string): readonly Source[] {
  const results = listOf(fieldsOf(structured)["results"]);
  const listed = results.flatMap((one) => {
    const content = listOf(fieldsOf(one)["content"]);
    return content.length ? content : [one];
  });
  const found = listed.length ? listed : parsed(LINKS.exec(result)?.[1] ?? "[]");
  const sources = found
    .map((one) => ({ title: textOf(one, "title"), url: textOf(one, "url") }))
    .filter((one) => one.url !== "");
  return [...new Map(sources.map((one) => [one.url, one])).values()];
}

/** What was said about it. */
export function wordsOf(structured: unknown, result: string): string {
  const done = fieldsOf(structured);
  const said = listOf(done["results"]).filter((one): one is string => typeof one === "string");
  if (said.length) return said.join("\n\n");
  const fetched = textOf(done, "result");
  return fetched || result.replace(/^Web search results for query:.*$/m, "").replace(LINKS, "").trim();
}

function parsed(text: string): readonly unknown[] {
  try {
    return listOf(JSON.parse(text));
  } catch {
    return [];
  }
}
