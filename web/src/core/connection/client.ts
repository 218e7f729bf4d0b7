/**
 * One client of the server: its connection, the documents it follows, its unanswered intents. It
 * notifies a listener of changes, at most once per frame. The view reads values and sends intents.
 */
import type { Intent } from "../../protocol/intents.ts";
import type { Lobby } from "../../protocol/lobby.ts";
import { LOBBY, PROTOCOL } from "../../protocol/messages.ts";
import type { Challenge, FromServer, Greet, Hello, IntentResult, Problem, Welcome } from "../../protocol/messages.ts";
import type { TerminalEvents, ToTerminal } from "../workbench/terminal.ts";
import { Connection, type Link } from "./connection.ts";
import { changed, fetching, fromSnapshot, holds, opening, oldestItem, paged, released } from "./documents.ts";
import type { Followed } from "./documents.ts";
import { type DeviceKey, Login } from "./login.ts";
import { Outbox, type Waiting } from "./outbox.ts";
import type { TextStore, Timer, World } from "./world.ts";

/** `node` is the machine of a fleet that carries out an intent without a session. */
export type SendIntent = (intent: Intent, node?: string) => Promise<IntentResult>;

/** Everything that the view shows, as one value that is replaced at each change. */
export interface Known {
  readonly link: Link;
  readonly welcome: Welcome | null;
  readonly lobby: Lobby | null;
  /** The documents of sessions by their names. */
  readonly documents: ReadonlyMap<string, Followed>;
  /** Documents that the server does not have, with the server's message. */
  readonly missing: ReadonlyMap<string, string>;
  /** Documents that the server cannot show now, with the reason. They are opened again every few seconds. */
  readonly awaited?: ReadonlyMap<string, string>;
  readonly outbox: readonly Waiting[];
  /** The server's clock minus the local one, in seconds. */
  readonly skew: number;
}

export interface ClientEvents {
  changed(known: Known): void;
  problem(problem: Problem): void;
  /** An intent was refused, even one that was sent before a reload. */
  refused(intent: Intent, result: IntentResult): void;
}

export interface Identity {
  /** The key by which this device and its server authenticate each other. */
  readonly key?: DeviceKey;
  /** If there can be no key: a token, which is sent unchanged. */
  readonly token?: string;
  readonly client: string;
}

/** Sessions that are still followed after the user opened another one, so that going back is instant. */
const FOLLOWED = 6;

/** Most time for processing messages in one frame; the rest waits for the next, so that it is drawn. */
const BUDGET_S = 0.008;

/**
 * How long applied changes wait to be acknowledged, unless there are many of them. The server stops
 * sending only at 4 MiB without an ack, and an ack costs it as much as a line of a CLI.
 */
const OPEN_AGAIN_MS = 2000;
const ACK_MS = 2_000;

/** Characters that are acknowledged without waiting: an eighth of what the server sends without an ack. */
const ACK_CHARS = 512 * 1024;

/** How long a request to the HTTP API waits for a connection. */
const ACCESS_MS = 10_000;

/** Items to request at once while seeking an old item. */
const FAR_PAGE = 1_000;

/** Messages that add or drop items at the start. In a frame of its own, nothing that is read moves. */
const AT_START: ReadonlySet<string> = new Set(["page", "released"]);

function isAlone(received: readonly FromServer[], at: number): boolean {
  return AT_START.has(received[at]?.type ?? "") || AT_START.has(received[at - 1]?.type ?? "");
}

interface Seeking {
  readonly item: string;
  readonly found: (exists: boolean) => void;
}

export class Client {
  #known: Known;
  #received: FromServer[] = [];
  readonly #seeking = new Map<string, Seeking>();
  #login: Login | null = null;
  #callers: (() => void)[] = [];
  #scheduled = false;
  #acking: Timer | null = null;
  readonly #unacked = new Set<string>();
  #unackedChars = 0;
  #looking: string | null = null;
  #terminal: TerminalEvents | null = null;
  #recent: readonly string[] = [];
  readonly #world: World;
  readonly #identity: Identity;
  readonly #connection: Connection;
  readonly #outbox: Outbox;
  readonly #changed: (known: Known) => void;
  readonly #problem: (problem: Problem) => void;
  readonly #refused: (intent: Intent, result: IntentResult) => void;

  constructor(
    world: World,
    keep: TextStore,
    identity: Identity,
    on: ClientEvents,
  ) {
    this.#world = world;
    this.#identity = identity;
    this.#changed = (known) => on.changed(known);
    this.#problem = (problem) => on.problem(problem);
    this.#refused = (intent, result) => on.refused(intent, result);
    this.#outbox = new Outbox(keep, identity.client);
    this.#connection = new Connection(world, {
      open: () => this.#open(),
      answer: (challenge) => this.#answer(challenge),
      welcomed: (welcome) => this.#welcomed(welcome),
      received: (message, size) => this.#enqueue(message, size),
      moved: (link) => this.#moved(link),
    });
    this.#known = {
      link: this.#connection.link,
      welcome: null,
      lobby: null,
      documents: new Map(),
      missing: new Map(),
      outbox: this.#outbox.waiting,
      skew: 0,
    };
  }

  get known(): Known {
    return this.#known;
  }

  start(): void {
    this.#connection.start();
  }

  stop(): void {
    this.#acking?.cancel();
    this.#acking = null;
    this.#connection.stop();
  }

  /** Connect now instead of waiting for the next attempt. */
  hurry(): void {
    this.#connection.hurry();
  }

  /** Send an intent; it is stored until the server answers, even if the socket is lost or the page reloads. */
  readonly send: SendIntent = (intent, node) => {
    const { message, answer } = this.#outbox.put(intent, this.#world.now(), node);
    this.#set({ outbox: this.#outbox.waiting });
    this.#connection.send(message);
    return answer;
  };

  /** Have a page follow terminals; null ends it. */
  followTerminals(events: TerminalEvents | null): void {
    this.#terminal = events;
    if (this.#connection.link.state === "online") events?.online();
  }

  /** Send a message about a terminal; false if there is no connection, and it is lost. */
  readonly tellTerminal = (message: ToTerminal): boolean => this.#connection.send(message);

  /** View a session's document, or none. */
  look(document: string | null): void {
    if (document === this.#looking) return;
    if (this.#looking !== null) {
      this.#connection.send({ type: "look", document: this.#looking, looking: false });
    }
    this.#looking = document;
    if (document === null) return;
    const follows = this.#recent.includes(document) && this.#known.documents.has(document);
    this.#recent = [document, ...this.#recent.filter((name) => name !== document)];
    this.#forget(this.#recent.slice(FOLLOWED));
    this.#recent = this.#recent.slice(0, FOLLOWED);
    if (follows) this.#connection.send({ type: "look", document, looking: true });
    else this.#connection.send(opening(document, this.#known.documents.get(document)));
  }

  /** Request older items of a document; false if there are none. */
  fetchOlder(document: string, count?: number): boolean {
    const known = this.#known.documents.get(document);
    const request = known ? fetching(known, count) : null;
    if (!known || request === null || !this.#connection.send(request)) return false;
    this.#put({ ...known, fetching: true });
    return true;
  }

  /** Drop the items of a document before one; false if that must wait. */
  release(document: string, oldest: string): boolean {
    const known = this.#known.documents.get(document);
    if (!known || known.fetching || this.#seeking.has(document) || oldestItem(known) === oldest || !holds(known, oldest)) return false;
    return this.#connection.send({ type: "release", document, oldest });
  }

  /** Request older items until a given item is loaded; false if there is no such item. */
  seek(document: string, item: string): Promise<boolean> {
    this.#giveUp(document); // A new search replaces the previous one.
    return new Promise((resolve) => {
      this.#seeking.set(document, { item, found: resolve });
      this.#continueSeeking(document);
    });
  }

  #giveUp(document: string): void {
    this.#seeking.get(document)?.found(false);
    this.#seeking.delete(document);
  }

  #continueSeeking(document: string): void {
    const seeking = this.#seeking.get(document);
    const known = this.#known.documents.get(document);
    if (!seeking || known?.fetching) return;
    const exists = known !== undefined && holds(known, seeking.item);
    if (!exists && (known === undefined || known.window.first > 0)) {
      this.fetchOlder(document, FAR_PAGE);
      return; // Continues when the page arrives, or the document after a lost socket.
    }
    this.#seeking.delete(document);
    seeking.found(exists);
  }

  /** A token for the HTTP API: it is issued for the connection, and expires with it. */
  access(): Promise<string> {
    const known = this.#identity.token ?? this.#connection.access;
    if (known !== null) return Promise.resolve(known);
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        timer.cancel();
        const { access } = this.#connection;
        if (access !== null) resolve(access);
        else reject(new TypeError("There is no connection to the server."));
      };
      const timer = this.#world.after(ACCESS_MS, () => {
        this.#callers = this.#callers.filter((caller) => caller !== settle);
        settle();
      });
      this.#callers.push(settle);
    });
  }

  // Events of the connection

  #open(): Greet | Hello {
    const { key, token } = this.#identity;
    if (key === undefined) return { ...this.#hello(), ...(token === undefined ? {} : { token }) };
    this.#login = new Login(key, this.#world.host(), this.#world.nonce());
    return this.#login.greet;
  }

  async #answer(challenge: Challenge): Promise<Hello | null> {
    const proof = (await this.#login?.answer(challenge)) ?? null;
    return proof === null ? null : { ...this.#hello(), proof };
  }

  #hello(): Hello {
    const { client } = this.#identity;
    const hello: Hello = { type: "hello", protocol: PROTOCOL, client };
    if (this.#looking === null) return hello;
    const known = this.#known.documents.get(this.#looking);
    if (!known) return { ...hello, session: this.#looking };
    const { seq: last_seq, epoch } = known;
    return { ...hello, session: this.#looking, last_seq, epoch, oldest: oldestItem(known) };
  }

  #welcomed(welcome: Welcome): void {
    for (const settle of this.#callers.splice(0)) settle();
    this.#set({ welcome, skew: welcome.time - this.#world.now() });
    this.#recent = this.#looking === null ? [] : [this.#looking]; // Hello opens only this document.
    for (const message of this.#outbox.again(welcome.last_intent)) this.#connection.send(message);
    this.#terminal?.online();
  }

  #enqueue(message: FromServer, size: number): void {
    this.#received.push(message);
    this.#unackedChars += size;
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#world.nextFrame(() => this.#flush());
  }

  #moved(link: Link): void {
    if (this.#known) this.#set({ link });
  }

  // Messages since the last frame

  #flush(): void {
    this.#scheduled = false;
    const received = this.#received;
    this.#received = [];
    const touched = new Set<string>();
    const before = this.#known;
    const end = this.#world.now() + BUDGET_S;
    let done = 0;
    do this.#process(received[done] as FromServer, touched);
    while ((done += 1) < received.length && !isAlone(received, done) && this.#world.now() < end);
    this.#ackSoon(touched);
    if (this.#known !== before) this.#changed(this.#known);
    for (const document of [...this.#seeking.keys()]) this.#continueSeeking(document);
    if (done < received.length) this.#putBack(received.slice(done));
  }

  #putBack(rest: readonly FromServer[]): void {
    this.#received = [...rest, ...this.#received];
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#world.nextFrame(() => this.#flush());
  }

  #process(message: FromServer, touched: Set<string>): void {
    switch (message.type) {
      case "snapshot":
        touched.add(message.document);
        return this.#store(fromSnapshot(message));
      case "changes":
        touched.add(message.document);
        return this.#processChanges(message);
      case "page": {
        const known = this.#known.documents.get(message.document);
        return known ? this.#store(paged(known, message)) : undefined;
      }
      case "released": {
        const known = this.#known.documents.get(message.document);
        return known ? this.#store(released(known, message)) : undefined;
      }
      case "intent_result":
        return this.#processResult(message);
      case "error":
        return this.#processProblem(message);
      case "terminals":
      case "terminal_output":
        return this.#terminal?.received(message);
      case "pong":
        this.#known = { ...this.#known, skew: message.time - this.#world.now() };
        return;
    }
  }

  #processResult(result: IntentResult): void {
    const intent = this.#outbox.answered(result);
    this.#known = { ...this.#known, outbox: this.#outbox.waiting };
    if (intent !== null && !result.ok) this.#refused(intent, result);
  }

  #processChanges(message: Extract<FromServer, { type: "changes" }>): void {
    const known = this.#document(message.document);
    if (!known || message.seq < known.seq) return;
    const after = changed(known, message);
    if (after) return this.#store(after);
    // A message was missed: start again from a snapshot.
    this.#connection.send(opening(message.document, undefined));
  }

  #processProblem(problem: Problem): void {
    if (problem.code === "not_found" && problem.document !== null) {
      const missing = new Map(this.#known.missing).set(problem.document, problem.message);
      this.#known = { ...this.#known, missing };
      return;
    }
    const known = problem.document === null ? undefined : this.#document(problem.document);
    if (problem.code === "unavailable" && problem.document !== null && !known) return this.#await(problem.document, problem.message);
    this.#giveUp(problem.document ?? "");
    if (known?.fetching) this.#store({ ...known, fetching: false });
    this.#problem(problem);
  }

  /** Show why a document cannot be had now, and open it again later if it is still looked at. */
  #await(document: string, reason: string): void {
    this.#known = { ...this.#known, awaited: new Map(this.#known.awaited).set(document, reason) };
    this.#world.after(OPEN_AGAIN_MS, () => {
      const wanted = this.#looking === document && !this.#known.documents.has(document);
      if (wanted) this.#connection.send(opening(document, undefined));
    });
  }

  /** Acknowledge what was applied, for all frames of a while together. */
  #ackSoon(touched: ReadonlySet<string>): void {
    for (const document of touched) this.#unacked.add(document);
    if (this.#unacked.size === 0) return;
    if (this.#unackedChars >= ACK_CHARS) this.#ackAll();
    else this.#acking ??= this.#world.after(ACK_MS, () => this.#ackAll());
  }

  #ackAll(): void {
    this.#acking?.cancel();
    this.#acking = null;
    this.#unackedChars = 0;
    for (const document of this.#unacked) this.#ack(document);
    this.#unacked.clear();
  }

  #ack(document: string): void {
    const known = this.#document(document);
    if (known) this.#connection.send({ type: "ack", document, seq: known.seq });
  }

  #lobby: Followed | null = null;

  #document(name: string): Followed | undefined {
    return name === LOBBY ? (this.#lobby ?? undefined) : this.#known.documents.get(name);
  }

  #store(document: Followed): void {
    if (document.name === LOBBY) {
      this.#lobby = document;
      this.#known = { ...this.#known, lobby: document.state as unknown as Lobby };
      return;
    }
    const documents = new Map(this.#known.documents).set(document.name, document);
    const missing = new Map(this.#known.missing);
    missing.delete(document.name);
    const awaited = new Map(this.#known.awaited);
    awaited.delete(document.name);
    this.#known = { ...this.#known, documents, missing, awaited };
  }

  #put(document: Followed): void {
    this.#store(document);
    this.#changed(this.#known);
  }

  #forget(names: readonly string[]): void {
    if (names.length === 0) return;
    const documents = new Map(this.#known.documents);
    for (const document of names) {
      documents.delete(document);
      this.#giveUp(document);
      this.#connection.send({ type: "close", document });
    }
    this.#known = { ...this.#known, documents };
  }

  #set(part: Partial<Known>): void {
    this.#known = { ...this.#known, ...part };
    this.#changed(this.#known);
  }
}
