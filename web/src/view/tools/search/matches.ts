/** The output of a search, parsed into matches. Pure. */

export interface Match {
  readonly file: string;
  readonly line: number | null;
  readonly text: string;
}

/** `file:12:text`, `file-12-text` for the context lines, or `file:count`; else the line itself. */
export function matchesOf(content: string): readonly Match[] {
  if (content === "") return [];
  return content
    .replace(/\n$/, "")
    .split("\n")
    .filter((line) => line !== "--")
    .map(matchOf);
}

function matchOf(line: string): Match {
  const match = /^(.+?)([:-])(\d+)\2(.*)$/.exec(line);
  if (match) return { file: match[1] ?? "", line: Number(match[3]), text: match[4] ?? "" };
  const counted = /^(.+):(\d+)$/.exec(line);
  if (counted) return { file: counted[1] ?? "", line: null, text: `${counted[2]} matches` };
  const plain = /^([^\s:]+):(.*)$/.exec(line);
  if (plain) return { file: plain[1] ?? "", line: null, text: plain[2] ?? "" };
  return { file: "", line: null, text: line };
}

/** The number of files in a result that is only text, such as a subagent's search; null if it has none. */
export function filesTold(result: string): number | null {
  const count = /^Found (\d+) files?\b/.exec(result)?.[1];
  if (count) return Number(count);
  return result.startsWith("No files found") ? 0 : null;
}
