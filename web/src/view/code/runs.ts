/** The markup of the highlighter as runs of text by line. Pure. */

/** A piece of a line and the class of its color, such as `hljs-keyword`. */
export type Run = readonly [text: string, name: string];

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#x27;": "'",
};

/** Each run is a node of the page; a line with more runs, as in minified code, has no colors. */
const MOST_RUNS = 1_000;

/** The library's markup has spans and entities and nothing else. */
export function runsOf(markup: string): readonly (readonly Run[])[] {
  const all: Run[][] = [[]];
  const open: string[] = [];
  for (const [piece, name] of markup.matchAll(/<span class="([^"]*)">|<\/span>|[^<]+/g)) {
    if (name !== undefined) open.push(name);
    else if (piece === "</span>") open.pop();
    else take(all, piece, open.at(-1) ?? "");
  }
  return all.map((line) => (line.length > MOST_RUNS ? [[line.map(([text]) => text).join(""), ""]] : line));
}

function take(all: Run[][], piece: string, name: string): void {
  const text = piece.replace(/&[#\w]{1,6};/g, (entity) => ENTITIES[entity] ?? entity);
  text.split("\n").forEach((part, at) => {
    if (at > 0) all.push([]);
    if (part !== "") all.at(-1)?.push([part, name]);
  });
}
