/**
 * Draws formulas with KaTeX, which is loaded when the first one comes near the screen. A formula that
 * KaTeX cannot read stays the text it is. The work is done in short pieces, so that a page full of
 * formulas still scrolls.
 */
import { whenNear } from "../code/seen.ts";

type Draw = (node: HTMLElement, tex: string, display: boolean) => boolean;

const PIECE_MS = 8;

const waiting: { readonly node: HTMLElement; readonly tex: string; readonly display: boolean }[] = [];
let draw: Draw | null = null;
let working = false;

/** Draw a formula into a node that shows its source until then. */
export function drawMath(node: HTMLElement, tex: string, display: boolean): void {
  whenNear(node, () => {
    waiting.push({ node, tex, display });
    void work();
  });
}

async function work(): Promise<void> {
  if (working) return;
  working = true;
  try {
    draw ??= (await import("./katex.ts")).draw;
    while (waiting.length > 0) {
      const until = performance.now() + PIECE_MS;
      while (waiting.length > 0 && performance.now() < until) {
        const { node, tex, display } = waiting.shift() as (typeof waiting)[0];
        if (node.isConnected && draw(node, tex, display)) node.classList.add("drawn");
      }
      if (waiting.length > 0) await new Promise((done) => setTimeout(done));
    }
  } catch {
    waiting.length = 0; // KaTeX could not be loaded, such as without a server: the source stays.
  } finally {
    working = false;
  }
}
