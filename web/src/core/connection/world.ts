/**
 * The environment of the core, passed in from outside: a socket, a clock, a store for texts. So the
 * core runs in a browser and in tests.
 */

/** Stores texts by name, as localStorage does; may be full or forbidden. */
export interface TextStore {
  get(name: string): string | null;
  set(name: string, value: string): void;
  remove(name: string): void;
}

export interface Timer {
  cancel(): void;
}

export interface World {
  /** The time as a Unix timestamp in seconds. */
  now(): number;
  after(ms: number, act: () => void): Timer;
  /** Before the next frame is drawn, or soon if the page is hidden. */
  nextFrame(act: () => void): void;
  /** A random number from 0 up to but not including 1. */
  chance(): number;
  uuid(): string;
  /** A new random text of letters and digits that cannot be guessed. */
  nonce(): string;
  /** The host name and port of the page's address. */
  host(): string;
  connect(events: SocketEvents): Socket;
}

export interface SocketEvents {
  opened(): void;
  received(text: string): void;
  closed(code: number): void;
}

export interface Socket {
  send(text: string): void;
  close(): void;
}

/** A store that lasts only as long as the page. */
export function memoryStore(): TextStore {
  const texts = new Map<string, string>();
  return {
    get: (name) => texts.get(name) ?? null,
    set: (name, value) => void texts.set(name, value),
    remove: (name) => void texts.delete(name),
  };
}
