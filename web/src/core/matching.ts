/** Finding by few letters: slash commands, actions of the palette, files. Pure. */

/**
 * How well some letters fit a text: the higher the better, null if they do not. Letters in a row,
 * at the beginning of a word or of the whole count more.
 */
export function fit(letters: string, text: string): number | null {
  const wanted = letters.toLowerCase();
  const given = text.toLowerCase();
  if (wanted === "") return 0;
  const whole = given.indexOf(wanted);
  if (whole >= 0) return 100 - Math.min(whole, 40) + (isStart(given, whole) ? 20 : 0);
  let score = 0;
  let at = 0;
  for (const letter of wanted) {
    const found = given.indexOf(letter, at);
    if (found < 0) return null;
    score += isStart(given, found) ? 4 : found === at ? 2 : 0;
    at = found + 1;
  }
  return score - given.length / 50;
}

/** Those that fit, best first; equals stay in their order. */
export function ranked<T>(letters: string, all: readonly T[], text: (one: T) => string): readonly T[] {
  return all
    .map((one) => ({ one, score: fit(letters, text(one)) }))
    .filter((entry): entry is { one: T; score: number } => entry.score !== null)
    .sort((a, b) => b.score - a.score)
    .map((entry) => entry.one);
}

export interface SlashCommand {
  readonly name: string;
  readonly description: string;
  readonly hint: string;
}

/** The commands of a session, whatever form the CLI gave them. */
export function slashCommands(listed: readonly unknown[]): readonly SlashCommand[] {
  return listed.map(command).filter((one) => one.name !== "" && !one.name.startsWith("_"));
}

/** The letters after a slash, if the text so far is the beginning of a command; else null. */
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
