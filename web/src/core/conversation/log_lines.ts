/** Lines of a session's raw log, formatted for display. Pure. */

/** A line as `/api/sessions/{id}/log` returns it. */
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
  /** The last line that the request reached. */
  readonly reached: number;
  readonly last: number;
}

export const DIRECTIONS: readonly { readonly value: string; readonly label: string; readonly about: string }[] = [
  { value: "out", label: "From the CLI", about: "What the CLI wrote" },
  { value: "in", label: "To the CLI", about: "What the server wrote to the CLI" },
  { value: "fact", label: "Server events", about: "What the server recorded itself" },
];

/** A line as indented JSON; unchanged if it is not JSON. */
export function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** The first characters of a line without its type, which is shown next to it. */
export function gist(line: LogLine, most = 240): string {
  const rest = line.text.replace(/^\{\s*"(type|fact)"\s*:\s*"[^"]*"\s*,?\s*/, "").replace(/\}\s*$/, "");
  return rest.length > most ? `${rest.slice(0, most)}…` : rest;
}

/** Two ranges of lines as one, in order and without duplicates. */
export function joined(before: readonly LogLine[], after: readonly LogLine[]): readonly LogLine[] {
  const last = before.at(-1)?.seq ?? 0;
  const first = after[0]?.seq ?? Infinity;
  if (first > last) return [...before, ...after];
  const all = new Map([...before, ...after].map((line) => [line.seq, line]));
  return [...all.values()].sort((a, b) => a.seq - b.seq);
}
