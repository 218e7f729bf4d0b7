/**
 * Terminal output as lines of colored pieces. Colors and weights are kept; everything else a
 * terminal would obey (titles, links, moves of the cursor) is left out. A line that a carriage
 * return overwrote shows its last content. Pure.
 */

/** How a piece looks; a color is a name of the app's palette, or `#rrggbb`. */
export interface Look {
  readonly fg: string | null;
  readonly bg: string | null;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly strike: boolean;
  readonly inverse: boolean;
}

export interface Span {
  readonly text: string;
  readonly look: Look;
}

const PLAIN: Look = {
  fg: null, bg: null, bold: false, dim: false, italic: false, underline: false, strike: false, inverse: false,
}; // prettier-ignore

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;

// No character fits two adjacent parts, so that a sequence without an end takes linear time.
// CSI … final | OSC … (BEL or ST) | DCS, SOS, PM, APC … ST | two-letter escapes
const ESCAPES =
  // eslint-disable-next-line no-control-regex -- escapes are what this is about
  /\x1b\[([0-9;:?<=>]*)[ -/]*([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\|$)|\x1b[PX^_][^\x1b]*(?:\x1b\\|$)|\x1b[ -/]*[0-~]?|\x9b([0-9;:?]*)([@-~])/g;
// eslint-disable-next-line no-control-regex -- as above
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

/** The lines of a terminal's text. */
export function ansiLines(text: string): readonly (readonly Span[])[] {
  let look = PLAIN;
  const lines: Span[][] = [[]];
  let last = 0;
  const write = (piece: string): void => writeText(lines, piece, look);
  for (const match of text.matchAll(ESCAPES)) {
    write(text.slice(last, match.index));
    last = match.index + match[0].length;
    if ((match[2] ?? match[4]) === "m") look = changed(look, match[1] ?? match[3] ?? "");
  }
  write(text.slice(last));
  if (lines.length > 1 && lines.at(-1)?.length === 0) lines.pop();
  return lines;
}

/** The text without escape sequences. */
export function withoutAnsi(text: string): string {
  return ansiLines(text)
    .map((line) => line.map((span) => span.text).join(""))
    .join("\n");
}

function writeText(lines: Span[][], piece: string, look: Look): void {
  piece.replaceAll("\r\n", "\n").split("\n").forEach((part, at) => {
    if (at > 0) lines.push([]);
    const over = part.lastIndexOf("\r");
    const shown = over >= 0 && over < part.length - 1 ? part.slice(over + 1) : part;
    if (over >= 0 && over < part.length - 1) lines[lines.length - 1] = [];
    const clean = shown.replaceAll("\r", "").replace(CONTROLS, "");
    if (clean !== "") lines.at(-1)?.push({ text: clean, look });
  });
}

function changed(before: Look, codes: string): Look {
  const numbers = codes === "" ? [0] : codes.split(/[;:]/).map(Number);
  let look: { -readonly [name in keyof Look]: Look[name] } = { ...before };
  for (let at = 0; at < numbers.length; at += 1) {
    const code = numbers[at] ?? 0;
    if (code === 0) look = { ...PLAIN };
    else if (code === 38 || code === 48) {
      const [color, used] = extended(numbers.slice(at + 1, at + 5));
      look[code === 38 ? "fg" : "bg"] = color;
      at += used;
    } else Object.assign(look, simple(code));
  }
  return look;
}

function simple(code: number): Partial<Look> {
  if (code >= 30 && code <= 37) return { fg: NAMES[code - 30] ?? null };
  if (code >= 40 && code <= 47) return { bg: NAMES[code - 40] ?? null };
  if (code >= 90 && code <= 97) return { fg: `bright-${NAMES[code - 90]}` };
  if (code >= 100 && code <= 107) return { bg: `bright-${NAMES[code - 100]}` };
  return STYLES[code] ?? {};
}

const STYLES: Readonly<Record<number, Partial<Look>>> = {
  1: { bold: true }, 2: { dim: true }, 3: { italic: true }, 4: { underline: true },
  7: { inverse: true }, 9: { strike: true }, 22: { bold: false, dim: false }, 23: { italic: false },
  24: { underline: false }, 27: { inverse: false }, 29: { strike: false }, 39: { fg: null }, 49: { bg: null },
}; // prettier-ignore

/** `5;n` or `2;r;g;b` after 38 or 48: the color and how many numbers it took. */
function extended(rest: readonly number[]): readonly [string | null, number] {
  if (rest[0] === 5) return [indexed(rest[1] ?? 0), 2];
  if (rest[0] !== 2) return [null, 0];
  return [hex([rest[1] ?? 0, rest[2] ?? 0, rest[3] ?? 0]), 4];
}

function indexed(index: number): string {
  if (index < 8) return NAMES[Math.max(0, index)] ?? "white";
  if (index < 16) return `bright-${NAMES[index - 8]}`;
  if (index >= 232) return hex(Array<number>(3).fill(8 + 10 * (index - 232)));
  const cube = index - 16;
  const level = (part: number): number => (part === 0 ? 0 : 55 + 40 * part);
  return hex([Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map(level));
}

function hex(parts: readonly number[]): string {
  const two = (part: number): string =>
    Math.max(0, Math.min(255, Math.trunc(part) || 0)).toString(16).padStart(2, "0");
  return `#${parts.map(two).join("")}`;
}
