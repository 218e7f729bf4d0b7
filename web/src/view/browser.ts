/** The browser as the world the core lives in: socket, clock, frames, storage, names. */
import type { Keep, Socket, SocketEvents, World } from "../core/world.ts";

const HIDDEN_MS = 250;
/** A page that nobody sees draws no frames; what comes is taken in this often. */

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
  connect,
};

/** localStorage, or nothing where it is forbidden or full. */
export const keep: Keep = {
  get(name) {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  },
  set(name, value) {
    try {
      localStorage.setItem(name, value);
    } catch {
      // Full or forbidden: the page works, it only forgets.
    }
  },
  remove(name) {
    try {
      localStorage.removeItem(name);
    } catch {
      // As above.
    }
  },
};

/** A random UUID, also on a plain-http address where `crypto.randomUUID` is missing. */
export function uuid(): string {
  if ("randomUUID" in crypto) return crypto.randomUUID();
  const bytes = (crypto as Crypto).getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function connect(events: SocketEvents): Socket {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(`${scheme}//${location.host}/ws`);
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
