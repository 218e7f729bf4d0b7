/** F-33: what is sent while the connection comes and goes arrives, and arrives once. */
import { expect, test } from "vitest";
import { Client } from "../src/core/connection/client.ts";
import type { Send } from "../src/protocol/intents.ts";
import { TestWorld, type TestSocket } from "./world.ts";

/** A server that acts once for each number, and loses its sockets as told. */
class ForgetfulServer {
  readonly prompts: string[] = [];
  #acted = new Map<number, boolean>();

  take(socket: TestSocket, from: number): number {
    const heard = socket.sent.slice(from);
    for (const message of heard) {
      if (message.type === "hello") this.#welcome(socket);
      else if (message.type === "intent") this.#act(message.n, message.intent as Send);
    }
    return from + heard.length;
  }

  answer(socket: TestSocket): void {
    for (const n of this.#acted.keys()) {
      socket.say({ type: "intent_result", n, ok: true, result: {}, code: null, message: null });
    }
  }

  #welcome(socket: TestSocket): void {
    const last_intent = Math.max(0, ...this.#acted.keys());
    socket.say({ type: "welcome", protocol: 1, device: "d", role: "owner", version: "", agent: "", last_intent, time: 0 });
  }

  #act(n: number, intent: Send): void {
    if (!this.#acted.has(n)) this.prompts.push(intent.text);
    this.#acted.set(n, true);
  }
}

/** A world in which a page that is loaded anew leaves nothing of the old one behind. */
class PageWorld extends TestWorld {
  #pages = 0;

  override nextFrame(act: () => void): void {
    const page = this.#pages;
    super.nextFrame(() => void (page === this.#pages && act()));
  }

  reload(): void {
    this.#pages += 1;
  }
}

/** The same numbers every time. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function trial(seed: number): { readonly sent: readonly string[]; readonly got: readonly string[]; readonly left: number } {
  const roll = dice(seed);
  const world = new PageWorld();
  const server = new ForgetfulServer();
  const make = () => {
    const quiet = { changed: () => {}, problem: () => {}, refused: () => {} };
    const made = new Client(world, world.keep, { token: "t", client: "c" }, quiet);
    made.start();
    return made;
  };
  let client = make();
  const sent: string[] = [];
  const heard = new Map<TestSocket, number>();
  const serve = (answers: boolean): void => {
    const { socket } = world;
    if (socket.closed) return;
    if (!heard.has(socket)) socket.open();
    heard.set(socket, server.take(socket, heard.get(socket) ?? 0));
    heard.set(socket, server.take(socket, heard.get(socket) ?? 0));
    if (answers) server.answer(socket);
    world.frame();
  };
  for (let step = 0; step < 30; step += 1) {
    const chance = roll();
    if (chance < 0.35) {
      const text = `prompt ${sent.length}`;
      sent.push(text);
      void client.send({ kind: "send", session: "s", text, uuid: text });
    } else if (chance < 0.6) serve(roll() < 0.5);
    else if (chance < 0.8 && !world.socket.closed) world.socket.drop();
    else if (chance < 0.9) {
      client.stop();
      world.reload();
      client = make();
    } else world.pass(20 * roll());
  }
  for (let second = 0; second < 60 && client.known.outbox.length > 0; second += 1) {
    world.pass(1);
    serve(true);
  }
  return { sent, got: server.prompts, left: client.known.outbox.length };
}

test("nothing is lost, doubled or left behind over a thousand bad connections", () => {
  for (let seed = 1; seed <= 1_000; seed += 1) {
    const { sent, got, left } = trial(seed);
    expect([...got].sort(), `trial ${seed}`).toEqual([...sent].sort());
    expect(left, `trial ${seed}`).toBe(0);
  }
}, 60_000);
