/** A long text in pieces that are drawn one after the other. Pure. */

export const PIECE = 16_000;

/** The end of the piece that starts here: after a line if possible, never within a character. */
export function pieceEnd(text: string, from: number, most = PIECE): number {
  const end = Math.min(text.length, from + most);
  if (end === text.length) return end;
  const line = text.lastIndexOf("\n", end - 1) + 1;
  if (line > from) return line;
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff && end - 1 > from ? end - 1 : end;
}

/** The first `count` pieces of a text. */
export function firstPieces(text: string, count: number, most = PIECE): readonly string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length && pieces.length < count; ) {
    const end = pieceEnd(text, from, most);
    pieces.push(text.slice(from, end));
    from = end;
  }
  return pieces;
}
