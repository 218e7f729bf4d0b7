/** Marks text without changing the document: the browser paints ranges, and no node is added. */

const MOST = 1_000;

/** Mark every match below a node; those below `here` more strongly. */
export function mark(root: Element, words: string, here: Element | null): void {
  if (!("highlights" in CSS)) return; // An older browser: jumps still work, without marks.
  const [around, within]: [Range[], Range[]] = [[], []];
  for (const range of places(root, words.toLowerCase())) {
    (here?.contains(range.startContainer) ? within : around).push(range);
  }
  CSS.highlights.set("found", new Highlight(...around));
  CSS.highlights.set("found-here", new Highlight(...within));
}

export function unmark(): void {
  if (!("highlights" in CSS)) return;
  CSS.highlights.delete("found");
  CSS.highlights.delete("found-here");
}

function* places(root: Element, wanted: string): Generator<Range> {
  if (wanted === "") return;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  let left = MOST;
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = (node as Text).data.toLowerCase();
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      const range = document.createRange();
      range.setStart(node, Math.min(at, (node as Text).length));
      range.setEnd(node, Math.min(at + wanted.length, (node as Text).length));
      yield range;
      if ((left -= 1) === 0) return;
    }
  }
}
