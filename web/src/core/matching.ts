/** Fuzzy matching: slash commands, actions of the palette, files. Pure. */

/**
 * How well a query matches a text: higher is better, null if it does not match. Consecutive
 * characters and those at the start of a word or of the text score higher.
 */
export function fit(query: string, text: string): number | null {
  const wanted = query.toLowerCase();
  const searched = text.toLowerCase();
  if (wanted === "") return 0;
  const start = searched.indexOf(wanted);
  if (start >= 0) return 100 - Math.min(start, 40) + (isStart(searched, start) ? 20 : 0);
  let score = 0;
  let at = 0;
  for (const character of wanted) {
    const index = searched.indexOf(character, at);
    if (index < 0) return null;
    score += isStart(searched, index) ? 4 : index === at ? 2 : 0;
    at = index + 1;
  }
  return score - searched.length / 50;
}

/** The matching values, best first; equal scores keep their order. */
export function ranked<T>(query: string, all: readonly T[], text: (value: T) => string): readonly T[] {
  return all
    .map((value) => ({ value, score: fit(query, text(value)) }))
    .filter((entry): entry is { value: T; score: number } => entry.score !== null)
    .sort((a, b) => b.score - a.score)
    .map((entry) => entry.value);
}

export interface SlashCommand {
  readonly name: string;
  readonly description: string;
  readonly hint: string;
}

/** The commands of a session, in whatever form the CLI reported them. */
export function slashCommands(listed: readonly unknown[]): readonly SlashCommand[] {
  return listed.map(command).filter((each) => each.name !== "" && !each.name.startsWith("_"));
}

/** The text after a slash, if the text so far is the beginning of a command; otherwise null. */
export function slashWord(text: string, caret: number): string | null {
  const match = /^\s*\/([^\s/]*)$/.exec(text.slice(0, caret));
  return match ? (match[1] ?? "") : null;
}

function command(value: unknown): SlashCommand {
  if (typeof value === "string") return { name: value, description: "", hint: "" };
  const fields = (value ?? {}) as Readonly<Record<string, unknown>>;
  const text = (name: string) => (typeof fields[name] === "string" ? (fields[name] as string) : "");
  return { name: text("name"), description: text("description"), hint: text("hint") };
}

function isStart(text: string, at: number): boolean {
  return at === 0 || /[\s/:_.-]/.test(text[at - 1] ?? "");
}
