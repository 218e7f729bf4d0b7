/** Lines of a session's raw log, ready to be shown: made readable, and put together from pieces. Pure. */

/** A line as `/api/sessions/{id}/log` tells it. */
export interface LogLine {
  readonly seq: number;
  readonly at: number;
  readonly direction: string;
  readonly kind: string;
  readonly size: number;
  readonly text: string;
  readonly cut: boolean;
}

export interface LogAnswer {
  readonly lines: readonly LogLine[];
  /** How far the question came. */
  readonly reached: number;
  readonly last: number;
}

export const DIRECTIONS: readonly { readonly value: string; readonly label: string; readonly about: string }[] = [
  { value: "out", label: "From the CLI", about: "What the CLI wrote" },
  { value: "in", label: "To the CLI", about: "What was written to it" },
  { value: "fact", label: "Noted", about: "What the server noted itself" },
];

/** A line as indented JSON; as it is, if it is none. */
export function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** The first letters of a line, without its type, which stands beside it. */
export function gist(line: LogLine, most = 240): string {
  const rest = line.text.replace(/^\{\s*"(type|fact)"\s*:\s*"[^"]*"\s*,?\s*/, "").replace(/\}\s*$/, "");
  return rest.length > most ? `${rest.slice(0, most)}…` : rest;
}

/** Two runs of lines as one, in order and without doubles. */
export function joined(before: readonly LogLine[], after: readonly LogLine[]): readonly LogLine[] {
  const last = before.at(-1)?.seq ?? 0;
  const first = after[0]?.seq ?? Infinity;
  if (first > last) return [...before, ...after];
  const all = new Map([...before, ...after].map((line) => [line.seq, line]));
  return [...all.values()].sort((a, b) => a.seq - b.seq);
}
