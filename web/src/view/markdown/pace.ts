/** How often Markdown that grows is read: the longer its open end, the more seldom. Pure. */

const STEPS: readonly (readonly [letters: number, ms: number])[] = [
  [4_000, 0],
  [12_000, 60],
  [40_000, 160],
  [120_000, 400],
];

/** Milliseconds to wait after so many letters were read, so that reading never fills the time. */
export function pauseFor(letters: number): number {
  return STEPS.find(([most]) => letters <= most)?.[1] ?? 1_000;
}
