/** Asks the worker to highlight code; one worker for the page, started when it is first needed. */
import workerAddress from "./highlight.worker.ts?worker&url";
import { scriptAddress } from "../browser/trusted.ts";
import type { Run } from "./runs.ts";

export type { Run };

export interface Asked {
  readonly id: number;
  readonly code: string;
  readonly language: string;
}

export interface Colored {
  readonly id: number;
  readonly lines: readonly (readonly Run[])[] | null;
}

/** Most characters of a text; a longer one is shown without colors. */
const LONGEST = 400_000;

/** Grammars take quadratic time for some texts; then the worker is ended and the text has no colors. */
const PATIENCE_MS = 4_000;

const REMEMBERED = 200;

type Lines = Colored["lines"];

interface Waiting {
  readonly asked: Asked;
  readonly answer: (lines: Lines) => void;
}

const known = new Map<string, Lines>();
/** In the order of the requests, which is the order in which the worker handles them. */
const waiting = new Map<number, Waiting>();
let worker: Worker | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
let last = 0;

/** Lines of highlighted runs; null if the language is unknown, or the code too long or too slow to parse. */
export function highlight(code: string, language: string | null): Promise<Lines> {
  if (language === null || code.length > LONGEST) return Promise.resolve(null);
  const key = `${language}\0${code}`;
  const cached = known.get(key);
  if (cached !== undefined) return Promise.resolve(cached);
  return new Promise((resolve) => {
    last += 1;
    const asked: Asked = { id: last, code, language };
    const answer = (lines: Lines): void => {
      remember(key, lines);
      resolve(lines);
    };
    waiting.set(last, { asked, answer });
    theWorker().postMessage(asked);
    if (waiting.size === 1) watch();
  });
}

function theWorker(): Worker {
  if (worker === null) {
    worker = new Worker(scriptAddress(workerAddress), { type: "module" });
    worker.onmessage = (event: MessageEvent<Colored>) => settle(event.data.id, event.data.lines);
    worker.onerror = () => {
      for (const id of [...waiting.keys()]) settle(id, null);
    };
  }
  return worker;
}

function settle(id: number, lines: Lines): void {
  const request = waiting.get(id);
  waiting.delete(id);
  request?.answer(lines);
  watch();
}

/** Allow the current text some time, then give up on it; the texts after it get a new worker. */
function watch(): void {
  clearTimeout(timer);
  const [current] = waiting.keys();
  if (current === undefined) return;
  timer = setTimeout(() => {
    worker?.terminate();
    worker = null;
    settle(current, null);
    for (const { asked } of waiting.values()) theWorker().postMessage(asked);
  }, PATIENCE_MS);
}

function remember(key: string, lines: Lines): void {
  const oldest = known.size >= REMEMBERED ? known.keys().next().value : undefined;
  if (oldest !== undefined) known.delete(oldest);
  known.set(key, lines);
}
