/** The sources and the text of a web search or a fetched page. Pure. */
import { fieldsOf, listOf, textOf } from "../../../core/plain.ts";

export interface Source {
  readonly title: string;
  readonly url: string;
}

const LINKS = /^Links: (\[.*\])$/m;

/** The sources: from the structured result, else from the list that the CLI prints. */
export function sourcesOf(structured: unknown, result: string): readonly Source[] {
  const results = listOf(fieldsOf(structured)["results"]);
  const listed = results.flatMap((each) => {
    const content = listOf(fieldsOf(each)["content"]);
    return content.length ? content : [each];
  });
  const links = listed.length ? listed : parsed(LINKS.exec(result)?.[1] ?? "[]");
  const sources = links
    .map((source) => ({ title: textOf(source, "title"), url: textOf(source, "url") }))
    .filter((source) => source.url !== "");
  return [...new Map(sources.map((source) => [source.url, source])).values()];
}

/** The model's text about the results. */
export function wordsOf(structured: unknown, result: string): string {
  const done = fieldsOf(structured);
  const texts = listOf(done["results"]).filter((text): text is string => typeof text === "string");
  if (texts.length) return texts.join("\n\n");
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
