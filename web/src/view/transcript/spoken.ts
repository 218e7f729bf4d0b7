/** The end of a turn as it is read aloud. Pure. */
import type { Turn } from "../../protocol/transcript.ts";

const LONGEST = 600;

const ENDS: Readonly<Record<string, string>> = {
  interrupted: "Stopped.",
  success: "",
};

/** What happened, and the words, without the signs of Markdown and not without end. */
export function spoken(turn: Pick<Turn, "outcome">, words: string): string {
  const end = ENDS[turn.outcome ?? ""] ?? "The turn ended with an error.";
  const text = plain(words);
  const cut = text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}… The rest is in the conversation.`;
  return [cut === "" ? "" : `Answer: ${cut}`, end].filter(Boolean).join(" ") || "The turn is over.";
}

function plain(words: string): string {
  return words
    .replace(/^ {0,3}(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^ {0,3}\1[^\n]*$|$(?![\s\S]))/gm, "Code.")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/^[ \t]*(?:#{1,6}|[-*+]|>)[ \t]+/gm, "")
    .replace(/[*_`~|]+/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}
