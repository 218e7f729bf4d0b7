/**
 * The connection as a state machine: connect, say hello, stay, and come back after a loss with
 * growing pauses. Hands every message on and knows nothing of documents or intents.
 */
import type { FromClient, FromServer, Hello, Welcome } from "../protocol/messages.ts";
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
  /** What to say first. */
  hello(): Hello;
  welcomed(welcome: Welcome): void;
  received(message: FromServer): void;
  moved(link: Link): void;
}

const PAUSES_MS = [0, 500, 1_000, 2_000, 4_000, 8_000, 15_000] as const;
/** How long to wait before the first, second, … try; then always the last. */

const SILENCE_MS = 50_000;
/** The server says something at least every 20 s; after this the socket is taken for dead. */

const WELCOME_MS = 10_000;

export class Connection {
  #link: Link;
  #socket: Socket | null = null;
  #timer: Timer | null = null;
  #goodbye: { reason: string; again: boolean } | null = null;
  #life = 0;
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

  /** Begin, or try again at once. */
  start(): void {
    this.#timer?.cancel();
    this.#try(0);
  }

  /** The network came back, or somebody asked: do not wait any longer. */
  hurry(): void {
    if (this.#link.state === "waiting") this.#try(this.#link.attempt);
  }

  /** End for good. */
  stop(): void {
    this.#life += 1;
    this.#timer?.cancel();
    this.#socket?.close();
    this.#socket = null;
  }

  /** Send a message if there is a connection; false if there is none. */
  send(message: FromClient): boolean {
    if (this.#link.state !== "online" || this.#socket === null) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  #try(attempt: number): void {
    this.#timer?.cancel();
    this.#socket?.close();
    this.#goodbye = null;
    this.#move({ state: "connecting", since: this.#world.now(), attempt });
    this.#life += 1;
    const life = this.#life;
    const mine = (act: () => void) => () => void (life === this.#life && act());
    this.#socket = this.#world.connect({
      opened: mine(() => this.#socket?.send(JSON.stringify(this.#events.hello()))),
      received: (text) => void (life === this.#life && this.#received(text)),
      closed: (code) => void (life === this.#life && this.#lost(code)),
    });
    this.#watch(WELCOME_MS);
  }

  #received(text: string): void {
    this.#watch(SILENCE_MS);
    const message = JSON.parse(text) as FromServer;
    if (message.type === "welcome") {
      this.#move({ state: "online", since: this.#world.now(), welcome: message });
      this.#events.welcomed(message);
    } else if (message.type === "bye") {
      this.#goodbye = { reason: message.reason, again: message.again };
    } else {
      this.#events.received(message);
    }
  }

  #watch(ms: number): void {
    this.#timer?.cancel();
    this.#timer = this.#world.after(ms, () => this.#lost(0));
  }

  #lost(code: number): void {
    const goodbye = this.#goodbye;
    const attempt = this.#link.state === "connecting" ? this.#link.attempt + 1 : 1;
    this.#life += 1;
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
    this.#timer = this.#world.after(pause, () => this.#try(attempt));
  }

  /** A fifth more or less, so that many clients do not come back in one moment. */
  #pause(attempt: number): number {
    const pause = PAUSES_MS[Math.min(attempt, PAUSES_MS.length - 1)] ?? 0;
    return pause * (0.8 + 0.4 * this.#world.chance());
  }

  #move(link: Link): void {
    this.#link = link;
    this.#events.moved(link);
  }
}
