/** Whether the time of some work grows linearly with its text, in CPU time. */

/** Milliseconds; less says nothing about growth. */
const NOISE = 8;
/** For four times the text: linear is 4, n log n about 5, square 16. */
const RATIO = 9;

/** The least CPU time of some runs, in milliseconds: the first one also compiles. One run that is short enough will do. */
export function cost(work: () => void, runs = 3, enough = NOISE / 4): number {
  let best = Infinity;
  for (let run = 0; run < runs && best > enough; run += 1) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}

/** What is wrong with the growth up to `size`, in words; null if it is linear. */
export function grows(work: (text: string) => unknown, text: (size: number) => string, size: number): string | null {
  const [short, long] = [text(size / 4), text(size)];
  const last = cost(() => void work(long), 3, NOISE);
  if (last < NOISE) return null;
  const first = Math.max(cost(() => void work(short), 5), NOISE / 20);
  if (last / first <= RATIO) return null;
  // Once more with more runs: a busy machine must not decide.
  const [again, before] = [cost(() => void work(long), 8), Math.max(cost(() => void work(short), 15), NOISE / 20)];
  if (again < NOISE || again / before <= RATIO) return null;
  return `${JSON.stringify(long.slice(0, 30))}: ${before.toFixed(1)} ms for ${short.length}, ${again.toFixed(1)} ms for ${long.length}`;
}
