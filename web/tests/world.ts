/** A world for tests: time moves when it is told to, sockets deliver when they are told to. */
import { memoryStore, type TextStore, type SocketEvents, type World } from "../src/core/connection/world.ts";
import type { FromClient, FromServer } from "../src/protocol/messages.ts";

export class TestSocket {
  readonly sent: FromClient[] = [];
  closed = false;
  readonly events: SocketEvents;

  constructor(events: SocketEvents) {
    this.events = events;
  }

  open(): void {
    this.events.opened();
  }

  say(message: FromServer): void {
    this.events.received(JSON.stringify(message));
  }

  drop(code = 1006): void {
    this.closed = true;
    this.events.closed(code);
  }

  of<T extends FromClient["type"]>(type: T): readonly Extract<FromClient, { type: T }>[] {
    return this.sent.filter((one): one is Extract<FromClient, { type: T }> => one.type === type);
  }
}

interface Due {
  readonly at: number;
  readonly act: () => void;
}

export class TestWorld implements World {
  readonly sockets: TestSocket[] = [];
  readonly keep: TextStore = memoryStore();
  #now = 1_000;
  #due: Due[] = [];
  #frames: (() => void)[] = [];
  #uuids = 0;

  now(): number {
    return this.#now;
  }

  after(ms: number, act: () => void): { cancel(): void } {
    const due = { at: this.#now + ms / 1000, act };
    this.#due.push(due);
    return { cancel: () => void (this.#due = this.#due.filter((one) => one !== due)) };
  }

  nextFrame(act: () => void): void {
    this.#frames.push(act);
  }

  nonce(): string {
    this.#uuids += 1;
    return `nonce-${this.#uuids}`.padEnd(32, "0");
  }

  host(): string {
    return "127.0.0.1:8787";
  }

  chance(): number {
    return 0.5;
  }

  uuid(): string {
    this.#uuids += 1;
    return `uuid-${this.#uuids}`;
  }

  connect(events: SocketEvents): { send(text: string): void; close(): void } {
    const socket = new TestSocket(events);
    this.sockets.push(socket);
    return {
      send: (text) => void socket.sent.push(JSON.parse(text) as FromClient),
      close: () => void (socket.closed = true),
    };
  }

  get socket(): TestSocket {
    const last = this.sockets.at(-1);
    if (!last) throw new Error("nobody has connected");
    return last;
  }

  /** Let the screen be drawn. */
  frame(): void {
    const frames = this.#frames;
    this.#frames = [];
    for (const act of frames) act();
  }

  /** Let time pass, and what is due happen in its order. */
  pass(seconds: number): void {
    const end = this.#now + seconds;
    for (;;) {
      const next = this.#due.filter((one) => one.at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.#due = this.#due.filter((one) => one !== next);
      this.#now = Math.max(this.#now, next.at);
      next.act();
    }
    this.#now = end;
  }
}
