/** Code in pieces of some lines, so that a change at its end does not draw the rest again. Pure. */

export const LINES = 64;

/** Cuts a text that may grow; complete pieces keep their strings. */
export class Chunks {
  #code = "";
  #starts: number[] = [0];
  #chunks: readonly string[] = [""];

  /** The pieces; all but the last have `LINES` lines and end with a line break. */
  update(code: string): readonly string[] {
    if (code === this.#code) return this.#chunks;
    if (!code.startsWith(this.#code)) this.#starts = [0];
    this.#code = code;
    const unchanged = this.#starts.length - 1;
    let from = this.#starts[unchanged] ?? 0;
    for (let end = after(code, from); end < code.length && end > 0; end = after(code, from)) {
      this.#starts.push(end);
      from = end;
    }
    const fresh = this.#starts.slice(unchanged).map((start, at) => code.slice(start, this.#starts[unchanged + at + 1]));
    this.#chunks = [...this.#chunks.slice(0, unchanged), ...fresh];
    return this.#chunks;
  }
}

/** Where the piece after the one that starts here begins; 0 if there is none. */
function after(code: string, start: number): number {
  let at = start;
  for (let line = 0; line < LINES; line += 1) {
    at = code.indexOf("\n", at) + 1;
    if (at === 0) return 0;
  }
  return at;
}
