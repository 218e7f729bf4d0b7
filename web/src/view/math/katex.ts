/** KaTeX without anything that a formula could use to leave its box. Loaded on demand. */
import katex from "katex";
import "katex/dist/katex.min.css";
import { LIMITS } from "./limits.ts";

/** Draw a formula as nodes; false if it cannot be read, and then nothing is changed. */
export function draw(node: HTMLElement, tex: string, display: boolean): boolean {
  const drawn = document.createElement("span");
  try {
    katex.render(tex, drawn, { ...LIMITS, displayMode: display });
  } catch {
    return false;
  }
  node.replaceChildren(...drawn.childNodes);
  return true;
}
