/** How often Markdown that grows is parsed: the longer its open end, the less often. Pure. */

const STEPS: readonly (readonly [characters: number, ms: number])[] = [
  [4_000, 0],
  [12_000, 60],
  [40_000, 160],
  [120_000, 400],
];

/** Milliseconds to wait after parsing a number of characters, so that parsing never takes all the time. */
export function pauseFor(characters: number): number {
  return STEPS.find(([most]) => characters <= most)?.[1] ?? 1_000;
}
