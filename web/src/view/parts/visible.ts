/**
 * Makes everything in a text visible: characters that hide, reorder or look like others become named
 * tokens, and long runs of spaces become a count. Everything that a user approves is shown this way,
 * and so are commands and paths in the conversation. Pure; the text itself never changes, only how
 * it is drawn.
 */

export type RunKind = "text" | "hidden" | "alike" | "blank";

/** A piece of a text: unchanged, or a token in its place. */
export interface VisibleRun {
  readonly kind: RunKind;
  /** What is drawn. */
  readonly shown: string;
  /** A description for the tooltip and screen readers; empty for plain text. */
  readonly name: string;
}

export interface VisibleText {
  readonly runs: readonly VisibleRun[];
  /** The number of characters that hide or reorder, and of those that look like others. */
  readonly hidden: number;
  readonly alike: number;
  readonly rightToLeft: boolean;
  /** The number of runs of spaces that were drawn as a count. */
  readonly blanks: number;
}

/** Each token takes some nodes of the page; further ones are written as names within the text. */
const MOST_TOKENS = 1_000;
/** Deeper indentation is rare, and a run as wide as a screen hides what follows it. */
const LONG_SPACES = 24;
const LONG_BREAKS = 4;

const NAMES: Readonly<Record<number, string>> = {
  0x00: "NUL", 0x07: "BEL", 0x08: "BS", 0x0b: "VT", 0x0c: "FF", 0x0d: "CR", 0x1b: "ESC", 0x7f: "DEL",
  0xa0: "NBSP", 0xad: "SHY", 0x034f: "CGJ", 0x061c: "ALM", 0x115f: "HCF", 0x1160: "HJF",
  0x180e: "MVS", 0x200b: "ZWSP", 0x200c: "ZWNJ", 0x200d: "ZWJ", 0x200e: "LRM", 0x200f: "RLM",
  0x2028: "LSEP", 0x2029: "PSEP", 0x202a: "LRE", 0x202b: "RLE", 0x202c: "PDF", 0x202d: "LRO",
  0x202e: "RLO", 0x2060: "WJ", 0x2066: "LRI", 0x2067: "RLI", 0x2068: "FSI", 0x2069: "PDI",
  0x2800: "BRAILLE BLANK", 0x3164: "HANGUL FILLER", 0xfeff: "BOM", 0xffa0: "HALF FILLER",
  0xfffd: "REPLACEMENT",
}; // prettier-ignore

// In this order: long runs of spaces; controls except tab and line feed, everything without a
// glyph, every blank except the space; the fourth mark on one letter; look-alike letters.
const SPECIAL = new RegExp(
  [
    ` {${LONG_SPACES},}`,
    `\\n(?:[ \\t]*\\n){${LONG_BREAKS - 1},}`,
    "(?![\\n\\t])[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Cn}\\p{Zl}\\p{Zp}\\p{DI}\\u2800\\ufffd]",
    "(?! )\\p{Zs}",
    "(?<=\\p{M}{3})\\p{M}",
    "[\\uff01-\\uff5e\\u{1d400}-\\u{1d7ff}\\u2024\\u2044\\u2215\\u29f8\\u2010-\\u2012\\u02bc\\u037e]",
    "[\\p{Script=Cyrillic}\\p{Script=Greek}\\p{Script=Armenian}\\p{Script=Cherokee}\\p{Script=Lisu}]",
  ].join("|"),
  "gu",
);
const DISGUISED = /[\uff01-\uff5e\u{1d400}-\u{1d7ff}\u2024\u2044\u2215\u29f8\u2010-\u2012\u02bc\u037e]/u;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const FOREIGN = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Lisu}]/u;
const WORDS = /[\p{L}\p{M}\p{N}_]+/gu;

// Nearly all commands and paths are ordinary text, and hundreds of them are drawn while scrolling: two
// checks without Unicode classes cost about an eighth of the one for SPECIAL.
const ORDINARY = /^[\n\t\x20-\x7e]*$/;
const BLANKS = new RegExp(` {${LONG_SPACES}}|\\n(?:[ \\t]*\\n){${LONG_BREAKS - 1}}`);

/** The runs to draw for a text. */
export function visible(text: string): VisibleText {
  if (ORDINARY.test(text) && !BLANKS.test(text)) return unchanged(text);
  const mixed = foreignInLatin(text);
  const runs = new Runs();
  let last = 0;
  for (const { 0: piece, index } of text.matchAll(SPECIAL)) {
    if (FOREIGN.test(piece) && !mixed.has(index)) continue;
    runs.addText(text.slice(last, index));
    last = index + piece.length;
    if (piece.startsWith(" ") || piece.startsWith("\n")) runs.add("blank", ...blank(piece));
    else if (mixed.has(index) || DISGUISED.test(piece)) runs.add("alike", piece, alike(piece));
    else runs.add("hidden", codeName(piece), codePoint(piece));
  }
  runs.addText(text.slice(last));
  return { ...runs.counted(), rightToLeft: RIGHT_TO_LEFT.test(text) };
}

function unchanged(text: string): VisibleText {
  const runs: readonly VisibleRun[] = text === "" ? [] : [{ kind: "text", shown: text, name: "" }];
  return { runs, hidden: 0, alike: 0, blanks: 0, rightToLeft: false };
}

/** The text with tokens as names between brackets, for places where no token can be drawn. */
export function visibleText(text: string): string {
  return visible(text).runs.map(named).join("");
}

/** A file name with its line breaks and tabs as signs: they would look like spaces. */
export function inOneLine(path: string): string {
  return path.replaceAll("\n", "␊").replaceAll("\t", "␉");
}

/** The path of a file in one line, for places where no token can be drawn. */
export function visiblePath(path: string): string {
  return inOneLine(visibleText(path));
}

function named({ kind, shown, name }: VisibleRun): string {
  if (kind === "text") return shown;
  return `⟨${kind === "alike" ? name.split(",")[0] : shown.trimEnd()}⟩`;
}

/** Whether a text contains anything that only `visible` shows. */
export function isSuspicious(text: string): boolean {
  const { hidden, alike, blanks, rightToLeft } = visible(text);
  return hidden > 0 || alike > 0 || blanks > 0 || rightToLeft;
}

/** One warning for everything suspicious in some texts; empty if there is nothing. */
export function warningFor(texts: readonly string[]): string {
  const all = texts.map(visible);
  const sum = (name: "hidden" | "alike" | "blanks"): number =>
    all.reduce((count, each) => count + each[name], 0);
  const parts = [
    phrase(sum("hidden"), "invisible or control character"),
    phrase(sum("alike"), "look-alike letter"),
    phrase(sum("blanks"), "long run of spaces", "long runs of spaces"),
    all.some((each) => each.rightToLeft) ? "right-to-left text, shown in the order it is stored" : "",
  ].filter(Boolean);
  return parts.length === 0 ? "" : `Warning: contains ${parts.join("; ")}.`;
}

function phrase(count: number, singular: string, plural = `${singular}s`): string {
  return count === 0 ? "" : `${count.toLocaleString("en")} ${count === 1 ? singular : plural}`;
}

class Runs {
  readonly #runs: VisibleRun[] = [];
  #text = "";
  #tokens = 0;
  readonly #counts = { hidden: 0, alike: 0, blank: 0 };

  addText(text: string): void {
    this.#text += text;
  }

  add(kind: Exclude<RunKind, "text">, shown: string, name: string): void {
    this.#counts[kind] += 1;
    const run: VisibleRun = { kind, shown, name };
    this.#tokens += 1;
    if (this.#tokens > MOST_TOKENS) return this.addText(named(run) + (shown.endsWith("\n") ? "\n" : ""));
    this.#flush();
    this.#runs.push(run);
  }

  counted(): Omit<VisibleText, "rightToLeft"> {
    this.#flush();
    const { hidden, alike, blank: blanks } = this.#counts;
    return { runs: this.#runs, hidden, alike, blanks };
  }

  #flush(): void {
    if (this.#text) this.#runs.push({ kind: "text", shown: this.#text, name: "" });
    this.#text = "";
  }
}

function blank(run: string): [shown: string, name: string] {
  if (run.startsWith(" ")) return [`space×${run.length.toLocaleString("en")}`, `${run.length} spaces`];
  const breaks = run.split("\n").length - 1;
  return [`⏎×${breaks.toLocaleString("en")}\n`, `${breaks} line breaks`];
}

function alike(character: string): string {
  return `${codePoint(character)}, which looks like another character`;
}

/** The indexes of foreign letters inside words that also have Latin letters. */
function foreignInLatin(text: string): ReadonlySet<number> {
  const indexes = new Set<number>();
  if (!FOREIGN.test(text)) return indexes;
  for (const word of text.matchAll(WORDS)) {
    if (!/\p{Script=Latin}/u.test(word[0]) || !FOREIGN.test(word[0])) continue;
    let at = word.index;
    for (const letter of word[0]) {
      if (FOREIGN.test(letter)) indexes.add(at);
      at += letter.length;
    }
  }
  return indexes;
}

function codeName(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0xe0020 && code <= 0xe007e) return `TAG ${String.fromCharCode(code - 0xe0000)}`;
  return NAMES[code] ?? codePoint(character);
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
