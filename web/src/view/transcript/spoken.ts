/** The end of a turn as it is read aloud. Pure. */
import type { Turn } from "../../protocol/transcript.ts";

const LONGEST = 600;
/** Characters of the answer that are processed: the result, without code and markup, is cut to `LONGEST`. */
const LONGEST_READ = 20_000;
/** Characters of a link's text and of its address; a longer link is read as it is written. */
const LINK = /!?\[([^[\]]{0,300})\]\([^()]{0,300}\)/g;

const ENDS: Readonly<Record<string, string>> = {
  interrupted: "Stopped.",
  success: "",
};

/** The outcome and the text, without Markdown and of limited length. */
export function spoken(turn: Pick<Turn, "outcome">, words: string): string {
  const end = ENDS[turn.outcome ?? ""] ?? "The turn ended with an error.";
  const text = plain(words);
  const cut = text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}… The rest is in the conversation.`;
  return [cut === "" ? "" : `Answer: ${cut}`, end].filter(Boolean).join(" ") || "The turn is over.";
}

function plain(words: string): string {
  return withoutCode(words.slice(0, LONGEST_READ))
    .replace(LINK, "$1")
    .replace(/^[ \t]*(?:#{1,6}|[-*+]|>)[ \t]+/gm, "")
    .replace(/[*_`~|]+/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

/** The text with "Code." instead of each fenced block, line by line. */
function withoutCode(words: string): string {
  const lines: string[] = [];
  let open: string | null = null;
  for (const line of words.split("\n")) {
    const fence = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (open !== null) {
      if (fence?.startsWith(open)) open = null;
      continue;
    }
    open = fence ?? null;
    lines.push(fence === undefined ? line : "Code.");
  }
  return lines.join("\n");
}
