/// <reference types="vite/client" />
/** The worker that colors code: a text that it does not finish costs neither the page nor other texts. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Asked, Colored } from "../../src/view/code/highlighter.ts";

/** The browser's Worker, as far as it is used: it answers in order and never finishes "slow". */
class FakeWorker {
  static all: FakeWorker[] = [];
  onmessage: ((event: { data: Colored }) => void) | null = null;
  onerror: (() => void) | null = null;
  readonly asked: Asked[] = [];
  terminated = false;

  constructor() {
    FakeWorker.all.push(this);
  }

  postMessage(asked: Asked): void {
    this.asked.push(asked);
    queueMicrotask(() => this.#work());
  }

  terminate(): void {
    this.terminated = true;
  }

  #work(): void {
    while (!this.terminated && this.asked[0] && this.asked[0].code !== "slow") {
      const { id, code } = this.asked.shift()!;
      this.onmessage?.({ data: { id, lines: [[[code, "keyword"]]] as unknown as Colored["lines"] } });
    }
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetModules();
  FakeWorker.all = [];
  vi.stubGlobal("Worker", FakeWorker);
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("a worker that does not finish is ended after 4 s, and the texts behind it get a new one", async () => {
  const { highlight } = await import("../../src/view/code/highlighter.ts");
  const slow = highlight("slow", "js");
  const after = highlight("after", "js");
  await vi.advanceTimersByTimeAsync(3_900);
  expect(FakeWorker.all.map((worker) => worker.terminated)).toEqual([false]);
  await vi.advanceTimersByTimeAsync(200);
  expect(await slow).toBeNull();
  expect(await after).toEqual([[["after", "keyword"]]]);
  expect(FakeWorker.all.map((worker) => worker.terminated)).toEqual([true, false]);
});

test("each text has its own 4 s, and the slow one is not tried again", async () => {
  const { highlight } = await import("../../src/view/code/highlighter.ts");
  expect(await highlight("quick", "js")).toEqual([[["quick", "keyword"]]]);
  const slow = highlight("slow", "js");
  await vi.advanceTimersByTimeAsync(4_100);
  expect(await slow).toBeNull();
  expect(await highlight("slow", "js")).toBeNull();
  expect(FakeWorker.all).toHaveLength(1);
  expect(await highlight("later", "js")).toEqual([[["later", "keyword"]]]);
  expect(FakeWorker.all.map((worker) => worker.terminated)).toEqual([true, false]);
});

test("a text that is too long never reaches the worker", async () => {
  const { highlight } = await import("../../src/view/code/highlighter.ts");
  expect(await highlight("x".repeat(400_001), "js")).toBeNull();
  expect(await highlight("x", null)).toBeNull();
  expect(FakeWorker.all).toEqual([]);
});
