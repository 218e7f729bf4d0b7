/**
 * The connection as a state machine: connect, let the server prove its identity, send hello, stay
 * connected, and reconnect after a loss with growing delays. Passes every message on and knows
 * nothing about documents or intents. Nothing is sent to a server without a proof, and its messages
 * are ignored.
 */
import type { Challenge, FromClient, FromServer, Greet, Hello, Welcome } from "../../protocol/messages.ts";
import type { Socket, Timer, World } from "./world.ts";

export type Link =
  | { readonly state: "connecting"; readonly since: number; readonly attempt: number }
  | { readonly state: "online"; readonly since: number; readonly welcome: Welcome }
  | {
      readonly state: "waiting";
      readonly since: number;
      readonly attempt: number;
      readonly until: number;
      readonly reason: string;
    }
  | { readonly state: "refused"; readonly since: number; readonly reason: string; readonly code: number };

export interface ConnectionEvents {
  /** The first message: a greeting that requests a proof, or hello at once. */
  open(): Greet | Hello;
  /** The answer to a server that proves its identity; null if its proof is wrong. */
  answer(challenge: Challenge): Promise<Hello | null>;
  welcomed(welcome: Welcome): void;
  received(message: FromServer, size: number): void;
  moved(link: Link): void;
}

/** The delay before the first, second, … attempt; the last one applies to all further attempts. */
const PAUSES_MS = [0, 500, 1_000, 2_000, 4_000, 8_000, 15_000] as const;

/** The server sends something at least every 20 s; after this time the socket counts as dead. */
const SILENCE_MS = 50_000;

const WELCOME_MS = 10_000;

/** The reason for no connection if another program listens at the server's address. */
export const OTHER_PROGRAM = "another program answers at the address of the server";

export class Connection {
  #link: Link;
  #socket: Socket | null = null;
  #timer: Timer | null = null;
  #goodbye: { reason: string; again: boolean } | null = null;
  #life = 0;
  #proof: "wanted" | "checked" | "given" = "wanted";
  #access: string | null = null;
  readonly #world: World;
  readonly #events: ConnectionEvents;

  constructor(world: World, events: ConnectionEvents) {
    this.#world = world;
    this.#events = events;
    this.#link = { state: "connecting", since: world.now(), attempt: 0 };
  }

  get link(): Link {
    return this.#link;
  }

  /** The token for the HTTP API; null without a connection, or if the device has its own token. */
  get access(): string | null {
    return this.#access;
  }

  /** Connect, or retry at once. */
  start(): void {
    this.#timer?.cancel();
    this.#connect(0);
  }

  /** Retry now, because the network is back or the user asked for it. */
  hurry(): void {
    if (this.#link.state === "waiting") this.#connect(this.#link.attempt);
  }

  /** Disconnect for good. */
  stop(): void {
    this.#life += 1;
    this.#timer?.cancel();
    this.#socket?.close();
    this.#socket = null;
  }

  /** Send a message; false if there is no connection. */
  send(message: FromClient): boolean {
    if (this.#link.state !== "online" || this.#socket === null) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  #connect(attempt: number): void {
    this.#timer?.cancel();
    this.#socket?.close();
    this.#goodbye = null;
    this.#access = null;
    this.#proof = "wanted";
    this.#move({ state: "connecting", since: this.#world.now(), attempt });
    this.#life += 1;
    const life = this.#life;
    const ifCurrent = (act: () => void) => () => void (life === this.#life && act());
    this.#socket = this.#world.connect({
      opened: ifCurrent(() => this.#opened()),
      received: (text) => void (life === this.#life && this.#received(text)),
      closed: (code) => void (life === this.#life && this.#lost(code)),
    });
    this.#watch(WELCOME_MS);
  }

  #opened(): void {
    const first = this.#events.open();
    if (first.type === "hello") this.#proof = "given"; // A token needs no proof.
    this.#socket?.send(JSON.stringify(first));
  }

  #received(text: string): void {
    if (this.#proof !== "given") return this.#receivedUnproven(text);
    this.#watch(SILENCE_MS);
    const message = JSON.parse(text) as FromServer;
    if (message.type === "access") {
      this.#access = message.token;
    } else if (message.type === "welcome") {
      this.#move({ state: "online", since: this.#world.now(), welcome: message });
      this.#events.welcomed(message);
    } else if (message.type === "bye") {
      this.#goodbye = { reason: message.reason, again: message.again };
    } else {
      this.#events.received(message, text.length);
    }
  }

  /** A message of a server that may be any program: only its proof counts, and that it closes. */
  #receivedUnproven(text: string): void {
    const message = readable(text);
    if (message?.type === "bye") {
      this.#goodbye = { reason: "", again: true };
    } else if (message?.type === "challenge" && this.#proof === "wanted") {
      this.#proof = "checked";
      const life = this.#life;
      void this.#events.answer(message).then(
        (hello) => void (life === this.#life && this.#answered(hello)),
        () => void (life === this.#life && this.#rejectServer()),
      );
    } else {
      this.#rejectServer();
    }
  }

  #answered(hello: Hello | null): void {
    if (hello === null) return this.#rejectServer();
    this.#proof = "given";
    this.#socket?.send(JSON.stringify(hello));
  }

  #rejectServer(): void {
    this.#goodbye = { reason: OTHER_PROGRAM, again: true };
    this.#lost(0);
  }

  #watch(ms: number): void {
    this.#timer?.cancel();
    this.#timer = this.#world.after(ms, () => this.#lost(0));
  }

  #lost(code: number): void {
    const goodbye = this.#goodbye;
    const attempt = this.#link.state === "connecting" ? this.#link.attempt + 1 : 1;
    this.#life += 1;
    this.#access = null;
    this.#timer?.cancel();
    this.#socket?.close();
    this.#socket = null;
    const since = this.#world.now();
    if (goodbye !== null && !goodbye.again) {
      this.#move({ state: "refused", since, reason: goodbye.reason, code });
      return;
    }
    const pause = this.#pause(attempt);
    const reason = goodbye?.reason ?? "";
    this.#move({ state: "waiting", since, attempt, until: since + pause / 1000, reason });
    this.#timer = this.#world.after(pause, () => this.#connect(attempt));
  }

  /** Vary the delay by a fifth, so that many clients do not reconnect at the same time. */
  #pause(attempt: number): number {
    const pause = PAUSES_MS[Math.min(attempt, PAUSES_MS.length - 1)] ?? 0;
    return pause * (0.8 + 0.4 * this.#world.chance());
  }

  #move(link: Link): void {
    this.#link = link;
    this.#events.moved(link);
  }
}

function readable(text: string): FromServer | null {
  try {
    return JSON.parse(text) as FromServer | null;
  } catch {
    return null;
  }
}
