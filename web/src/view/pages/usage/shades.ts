/** Shades of ink that distinguish the parts of a chart, the darkest first. */
export function shadeOf(at: number, count: number): string {
  const share = count <= 1 ? 78 : 84 - (Math.max(0, at) * 70) / (count - 1);
  return `color-mix(in oklab, var(--ink) ${Math.round(share)}%, var(--raise))`;
}
