/**
 * What the core needs of the world around it, given to it from outside: a socket, a clock, a
 * place to keep texts. So the core runs in a browser, in a test, and nowhere else by accident.
 */

/** A place that keeps texts by name, as localStorage does; may be full or forbidden. */
export interface Keep {
  get(name: string): string | null;
  set(name: string, value: string): void;
  remove(name: string): void;
}

export interface Timer {
  cancel(): void;
}

export interface World {
  /** Seconds since 1970. */
  now(): number;
  after(ms: number, act: () => void): Timer;
  /** Before the next frame is drawn, or soon if nobody looks. */
  nextFrame(act: () => void): void;
  /** A number from 0 up to but without 1. */
  chance(): number;
  uuid(): string;
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

/** A place that forgets everything with the page. */
export function forgetful(): Keep {
  const kept = new Map<string, string>();
  return {
    get: (name) => kept.get(name) ?? null,
    set: (name, value) => void kept.set(name, value),
    remove: (name) => void kept.delete(name),
  };
}
