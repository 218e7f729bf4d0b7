/** How much of the page an on-screen keyboard leaves, and how something stays above it. */

/** What a browser tells of the part of the page that is seen. */
export interface Seen {
  readonly height: number;
  readonly offsetTop: number;
  /** More than one if the page is magnified, which takes nothing away. */
  readonly scale: number;
}

export interface Room {
  readonly height: number;
  /** How much of the page's lower end is hidden. */
  readonly below: number;
}

/** Some browsers shrink the page for the keyboard, others lay it over: this holds for both. */
export function roomOf(page: number, seen: Seen | null): Room {
  if (seen === null || seen.scale > 1.01) return { height: page, below: 0 };
  return { height: Math.min(page, seen.height), below: Math.max(0, page - seen.height - seen.offsetTop) };
}

/** Tell a node, as `--room` and `--below`, what it has; gives what ends that. */
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
