/** The icon of the tab: the logo, with the number of open requests in brass. */

import { below } from "../../browser/base_path.ts";

const SIZE = 64;
const PLAIN = below("/icon.svg");
const BRASS = "#b5781c";
const INK = "#ffffff";

/** Show the number of open requests; 0 restores the plain logo. */
export function showWaiting(count: number): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (!link) return;
  const drawn = count > 0 ? draw(count) : null;
  link.type = drawn ? "image/png" : "image/svg+xml";
  link.href = drawn ?? PLAIN;
}

function draw(count: number): string | null {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = SIZE;
  const pen = canvas.getContext("2d");
  if (!pen) return null;
  mark(pen);
  badge(pen, count > 99 ? "99" : String(count));
  return canvas.toDataURL("image/png");
}

/** The rope through its guide, as in icon.svg, on a grid of 24. */
function mark(pen: CanvasRenderingContext2D): void {
  pen.save();
  pen.scale(SIZE / 24, SIZE / 24);
  pen.lineWidth = 2;
  pen.lineCap = "round";
  pen.strokeStyle = BRASS;
  for (const radius of [4, 7]) {
    pen.beginPath();
    pen.arc(12, 12, radius, 0, 2 * Math.PI);
    pen.stroke();
  }
  pen.stroke(new Path2D("M2 15c4 0 6-3 6-3M22 9c-4 0-6 3-6 3"));
  pen.restore();
}

function badge(pen: CanvasRenderingContext2D, words: string): void {
  const [x, y, radius] = [SIZE - 22, 22, 22];
  pen.fillStyle = BRASS;
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.fill();
  pen.fillStyle = INK;
  pen.font = `700 ${words.length > 1 ? 27 : 33}px system-ui, sans-serif`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillText(words, x, y + 2);
}
