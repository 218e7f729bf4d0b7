/** An exported file has no frame to draw in: diagrams are shown as their source. */

export const DRAWS = false;

export function drawDiagram(): Promise<never> {
  return Promise.reject(new Error("diagrams are not drawn in an exported file"));
}
