/**
 * A text such that everything in it can be seen: letters that hide, reorder or pass for others
 * become tokens with a name, and long runs of blanks a count. What a person approves is shown
 * through this, and so is what a command or a path is called in the conversation. Pure; the text
 * itself is never changed, only how it is drawn.
 */

export type RunKind = "text" | "hidden" | "alike" | "blank";

/** A piece of a text: as it is, or something that stands for it. */
export interface VisibleRun {
  readonly kind: RunKind;
  /** What is drawn. */
  readonly shown: string;
  /** What it is, for whoever points at it or has it read; empty for plain text. */
  readonly name: string;
}

export interface VisibleText {
  readonly runs: readonly VisibleRun[];
  /** How many letters hide or reorder, pass for others, or read from right to left. */
  readonly hidden: number;
  readonly alike: number;
  readonly rightToLeft: boolean;
  /** How many runs of blanks were drawn as a count. */
  readonly blanks: number;
}

const LONG_SPACES = 24;
/** Deeper indentation than this is rare, and a screen's width hides what follows it. */
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

// In this order: long runs of blanks; controls but for tab and line feed, everything without a
// glyph, every blank that is no space; the fourth mark on one letter; letters that pass for others.
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

// Nearly every command and path is such a text, and hundreds of them are drawn as one scrolls: two
// looks that know no Unicode cost about an eighth of the one for SPECIAL.
const ORDINARY = /^[\n\t\x20-\x7e]*$/;
const BLANKS = new RegExp(` {${LONG_SPACES}}|\\n(?:[ \\t]*\\n){${LONG_BREAKS - 1}}`);

/** What to draw for a text. */
export function visible(text: string): VisibleText {
  if (ORDINARY.test(text) && !BLANKS.test(text)) return asItIs(text);
  const mixed = foreignInLatin(text);
  const found = new Runs();
  let last = 0;
  for (const { 0: piece, index } of text.matchAll(SPECIAL)) {
    if (FOREIGN.test(piece) && !mixed.has(index)) continue;
    found.addText(text.slice(last, index));
    last = index + piece.length;
    if (piece.startsWith(" ") || piece.startsWith("\n")) found.add("blank", ...blank(piece));
    else if (mixed.has(index) || DISGUISED.test(piece)) found.add("alike", piece, alike(piece));
    else found.add("hidden", codeName(piece), codePoint(piece));
  }
  found.addText(text.slice(last));
  return { ...found.counted(), rightToLeft: RIGHT_TO_LEFT.test(text) };
}

function asItIs(text: string): VisibleText {
  const runs: readonly VisibleRun[] = text === "" ? [] : [{ kind: "text", shown: text, name: "" }];
  return { runs, hidden: 0, alike: 0, blanks: 0, rightToLeft: false };
}

/** The same for where no token can be drawn: each stands between brackets, by its name. */
export function visibleText(text: string): string {
  const drawn = ({ kind, shown, name }: VisibleRun): string => {
    if (kind === "text") return shown;
    return `⟨${kind === "alike" ? name.split(",")[0] : shown.trimEnd()}⟩`;
  };
  return visible(text).runs.map(drawn).join("");
}

/** Whether a text holds anything that would hide without `visible`. */
export function isSuspicious(text: string): boolean {
  const { hidden, alike, blanks, rightToLeft } = visible(text);
  return hidden > 0 || alike > 0 || blanks > 0 || rightToLeft;
}

/** One warning for all there is to warn of; empty if nothing is. */
export function warningFor(texts: readonly string[]): string {
  const all = texts.map(visible);
  const sum = (name: "hidden" | "alike" | "blanks"): number =>
    all.reduce((count, one) => count + one[name], 0);
  const parts = [
    phrase(sum("hidden"), "invisible or control character"),
    phrase(sum("alike"), "letter that passes for another", "letters that pass for others"),
    phrase(sum("blanks"), "long run of blanks", "long runs of blanks"),
    all.some((one) => one.rightToLeft) ? "right-to-left text, shown in the order it is stored" : "",
  ].filter(Boolean);
  return parts.length === 0 ? "" : `Look closely: ${parts.join("; ")}.`;
}

function phrase(count: number, one: string, many = `${one}s`): string {
  return count === 0 ? "" : `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

class Runs {
  readonly #runs: VisibleRun[] = [];
  #text = "";
  readonly #counts = { hidden: 0, alike: 0, blank: 0 };

  addText(text: string): void {
    this.#text += text;
  }

  add(kind: Exclude<RunKind, "text">, shown: string, name: string): void {
    this.#flush();
    this.#counts[kind] += 1;
    this.#runs.push({ kind, shown, name });
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

function alike(letter: string): string {
  return `${codePoint(letter)}, which looks like another letter`;
}

/** Where foreign letters stand inside words that also have Latin ones. */
function foreignInLatin(text: string): ReadonlySet<number> {
  const found = new Set<number>();
  if (!FOREIGN.test(text)) return found;
  for (const word of text.matchAll(WORDS)) {
    if (!/\p{Script=Latin}/u.test(word[0]) || !FOREIGN.test(word[0])) continue;
    let at = word.index;
    for (const letter of word[0]) {
      if (FOREIGN.test(letter)) found.add(at);
      at += letter.length;
    }
  }
  return found;
}

function codeName(letter: string): string {
  const code = letter.codePointAt(0) ?? 0;
  if (code >= 0xe0020 && code <= 0xe007e) return `TAG ${String.fromCharCode(code - 0xe0000)}`;
  return NAMES[code] ?? codePoint(letter);
}

function codePoint(letter: string): string {
  return `U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
