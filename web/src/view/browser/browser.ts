/** The browser as the environment of the core: socket, clock, frames, storage, ids. */
import { below, storedName } from "./base_path.ts";
import type { TextStore, Socket, SocketEvents, World } from "../../core/connection/world.ts";

/** A hidden page draws no frames; messages are processed at this interval. */
const HIDDEN_MS = 250;

export const world: World = {
  now: () => Date.now() / 1000,
  after(ms, act) {
    const timer = setTimeout(act, ms);
    return { cancel: () => clearTimeout(timer) };
  },
  nextFrame(act) {
    if (document.hidden) setTimeout(act, HIDDEN_MS);
    else requestAnimationFrame(act);
  },
  chance: () => Math.random(),
  uuid,
  nonce,
  host: () => location.host,
  connect,
};

/** localStorage; does nothing if it is forbidden or full. */
export const keep: TextStore = {
  get(name) {
    try {
      return localStorage.getItem(storedName(name));
    } catch {
      return null;
    }
  },
  set(name, value) {
    try {
      localStorage.setItem(storedName(name), value);
    } catch {
      // Full or forbidden: the page works without storage.
    }
  },
  remove(name) {
    try {
      localStorage.removeItem(storedName(name));
    } catch {
      // As above.
    }
  },
};

/** A random UUID, even on a plain-http address where `crypto.randomUUID` is missing. */
export function uuid(): string {
  if ("randomUUID" in crypto) return crypto.randomUUID();
  const bytes = (crypto as Crypto).getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function nonce(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function connect(events: SocketEvents): Socket {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(`${scheme}//${location.host}${below("/ws")}`);
  socket.onopen = () => events.opened();
  socket.onmessage = (event: MessageEvent<string>) => events.received(event.data);
  socket.onclose = (event) => events.closed(event.code);
  return {
    send: (text) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(text);
    },
    close: () => socket.close(),
  };
}
