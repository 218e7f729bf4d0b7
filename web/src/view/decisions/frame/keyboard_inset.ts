/** How much of the page an on-screen keyboard leaves visible, and how an element stays above it. */

/** The visible part of the page, as the browser reports it. */
export interface Seen {
  readonly height: number;
  readonly offsetTop: number;
  /** Above 1 if the page is zoomed, which hides nothing. */
  readonly scale: number;
}

export interface Room {
  readonly height: number;
  /** How much of the lower end of the page is hidden. */
  readonly below: number;
}

/** Some browsers shrink the page for the keyboard, others cover it: this works for both. */
export function roomOf(page: number, seen: Seen | null): Room {
  if (seen === null || seen.scale > 1.01) return { height: page, below: 0 };
  return { height: Math.min(page, seen.height), below: Math.max(0, page - seen.height - seen.offsetTop) };
}

/** Set `--room` and `--below` of an element to the visible space; returns a function that stops it. */
export function keepAbove(node: HTMLElement): () => void {
  const seen = window.visualViewport;
  const fit = (): void => {
    const { height, below } = roomOf(document.documentElement.clientHeight, seen);
    node.style.setProperty("--room", `${height}px`);
    node.style.setProperty("--below", `${below}px`);
  };
  fit();
  for (const change of ["resize", "scroll"]) seen?.addEventListener(change, fit);
  return () => {
    for (const change of ["resize", "scroll"]) seen?.removeEventListener(change, fit);
  };
}
