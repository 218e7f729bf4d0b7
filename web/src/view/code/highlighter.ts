/** Asks the worker to colour code; one worker for the page, started when it is first needed. */
import workerAddress from "./highlight.worker.ts?worker&url";
import { scriptAddress } from "../trusted.ts";

/** A piece of a line and the class of its colour, as `hljs-keyword`. */
export type Run = readonly [text: string, name: string];

export interface Asked {
  readonly id: number;
  readonly code: string;
  readonly language: string;
}

export interface Coloured {
  readonly id: number;
  readonly lines: readonly (readonly Run[])[] | null;
}

const LONGEST = 400_000;
/** Letters; what is longer is shown without colours. */

const REMEMBERED = 200;

type Lines = Coloured["lines"];

const known = new Map<string, Lines>();
const waiting = new Map<number, (lines: Lines) => void>();
let worker: Worker | null = null;
let last = 0;

/** Lines of coloured runs; null if the language is not known or the code too long. */
export function highlight(code: string, language: string | null): Promise<Lines> {
  if (language === null || code.length > LONGEST) return Promise.resolve(null);
  const key = `${language}\0${code}`;
  const found = known.get(key);
  if (found !== undefined) return Promise.resolve(found);
  return new Promise((resolve) => {
    last += 1;
    waiting.set(last, (lines) => {
      remember(key, lines);
      resolve(lines);
    });
    theWorker().postMessage({ id: last, code, language } satisfies Asked);
  });
}

function theWorker(): Worker {
  if (worker === null) {
    worker = new Worker(scriptAddress(workerAddress), { type: "module" });
    worker.onmessage = (event: MessageEvent<Coloured>) => {
      waiting.get(event.data.id)?.(event.data.lines);
      waiting.delete(event.data.id);
    };
    worker.onerror = () => {
      for (const answer of waiting.values()) answer(null);
      waiting.clear();
    };
  }
  return worker;
}

function remember(key: string, lines: Lines): void {
  const oldest = known.size >= REMEMBERED ? known.keys().next().value : undefined;
  if (oldest !== undefined) known.delete(oldest);
  known.set(key, lines);
}
