/**
 * One client of the server: its connection, the documents it follows, what it asked for. Tells a
 * listener when something changed, at most once in a frame. The view reads values and sends intents.
 */
import type { Intent } from "../protocol/intents.ts";
import type { Lobby } from "../protocol/lobby.ts";
import { LOBBY, PROTOCOL } from "../protocol/messages.ts";
import type { FromServer, Hello, IntentResult, Problem, Welcome } from "../protocol/messages.ts";
import { Connection, type Link } from "./connection.ts";
import { changed, fetching, fromSnapshot, holds, opening, oldestItem, paged } from "./documents.ts";
import type { Followed, Transcript } from "./documents.ts";
import { Outbox, type Waiting } from "./outbox.ts";
import type { Keep, World } from "./world.ts";

export type SendIntent = (intent: Intent) => Promise<IntentResult>;

/** Everything the view shows, as one value that is replaced. */
export interface Known {
  readonly link: Link;
  readonly welcome: Welcome | null;
  readonly lobby: Lobby | null;
  /** The documents of sessions by their names. */
  readonly documents: ReadonlyMap<string, Followed>;
  /** Documents that the server does not have, with what it says about them. */
  readonly missing: ReadonlyMap<string, string>;
  readonly outbox: readonly Waiting[];
  /** The server's clock minus ours, in seconds. */
  readonly skew: number;
}

export interface ClientEvents {
  changed(known: Known): void;
  problem(problem: Problem): void;
  /** An intent was refused, also one that was sent before a reload. */
  refused(intent: Intent, result: IntentResult): void;
}

export interface Identity {
  readonly token: string;
  readonly client: string;
}

const KEPT_OPEN = 6;
/** Sessions that are still followed after somebody looked away, so that going back is instant. */

const BUDGET_S = 0.008;
/** How long taking in may last in one frame; what is left waits for the next, so that it is drawn. */

const FAR_PAGE = 1_000;
/** Items to ask for at once, for somebody who looks for one of long ago. */

interface Seeking {
  readonly item: string;
  readonly found: (there: boolean) => void;
}

export class Client {
  #known: Known;
  #heard: FromServer[] = [];
  readonly #seeking = new Map<string, Seeking>();
  #scheduled = false;
  #looking: string | null = null;
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
    keep: Keep,
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
      hello: () => this.#hello(),
      welcomed: (welcome) => this.#welcomed(welcome),
      received: (message) => this.#received(message),
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
    this.#connection.stop();
  }

  /** Do not wait for the next try. */
  hurry(): void {
    this.#connection.hurry();
  }

  /** Ask for something; it is kept until it is answered, also over a lost socket and a reload. */
  readonly send: SendIntent = (intent) => {
    const { message, answer } = this.#outbox.put(intent, this.#world.now());
    this.#set({ outbox: this.#outbox.waiting });
    this.#connection.send(message);
    return answer;
  };

  /** Look at a session's document, or at none. */
  look(document: string | null): void {
    if (document === this.#looking) return;
    if (this.#looking !== null) {
      this.#connection.send({ type: "look", document: this.#looking, looking: false });
    }
    this.#looking = document;
    if (document === null) return;
    const follows = this.#recent.includes(document) && this.#known.documents.has(document);
    this.#recent = [document, ...this.#recent.filter((one) => one !== document)];
    this.#forget(this.#recent.slice(KEPT_OPEN));
    this.#recent = this.#recent.slice(0, KEPT_OPEN);
    if (follows) this.#connection.send({ type: "look", document, looking: true });
    else this.#connection.send(opening(document, this.#known.documents.get(document)));
  }

  /** Ask for older items of a document; false if there are none. */
  fetchOlder(document: string, count?: number): boolean {
    const known = this.#known.documents.get(document);
    const ask = known ? fetching(known, count) : null;
    if (!known || ask === null || !this.#connection.send(ask)) return false;
    this.#put({ ...known, fetching: true });
    return true;
  }

  /** Ask for older items until one of them is there; false if there is no such item. */
  seek(document: string, item: string): Promise<boolean> {
    this.#giveUp(document); // Somebody who looks for another one has left this.
    return new Promise((resolve) => {
      this.#seeking.set(document, { item, found: resolve });
      this.#seekOn(document);
    });
  }

  #giveUp(document: string): void {
    this.#seeking.get(document)?.found(false);
    this.#seeking.delete(document);
  }

  #seekOn(document: string): void {
    const seeking = this.#seeking.get(document);
    const known = this.#known.documents.get(document);
    if (!seeking || known?.fetching) return;
    const there = known !== undefined && holds(known, seeking.item);
    if (!there && (known === undefined || known.window.first > 0)) {
      this.fetchOlder(document, FAR_PAGE);
      return; // Goes on when the page, or after a lost socket the document, has come.
    }
    this.#seeking.delete(document);
    seeking.found(there);
  }

  /** The transcript of a session, if it is known. */
  transcript(document: string): Transcript | null {
    const found = this.#known.documents.get(document);
    return found ? (found.state as unknown as Transcript) : null;
  }

  // What the connection tells

  #hello(): Hello {
    const { token, client } = this.#identity;
    const hello: Hello = { type: "hello", protocol: PROTOCOL, token, client };
    if (this.#looking === null) return hello;
    const known = this.#known.documents.get(this.#looking);
    if (!known) return { ...hello, session: this.#looking };
    const { seq: last_seq, epoch } = known;
    return { ...hello, session: this.#looking, last_seq, epoch, oldest: oldestItem(known) };
  }

  #welcomed(welcome: Welcome): void {
    this.#set({ welcome, skew: welcome.time - this.#world.now() });
    this.#recent = this.#looking === null ? [] : [this.#looking]; // Hello opened only this one.
    for (const message of this.#outbox.again(welcome.last_intent)) this.#connection.send(message);
  }

  #received(message: FromServer): void {
    this.#heard.push(message);
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#world.nextFrame(() => this.#takeIn());
  }

  #moved(link: Link): void {
    if (this.#known) this.#set({ link });
  }

  // What was heard since the last frame

  #takeIn(): void {
    this.#scheduled = false;
    const heard = this.#heard;
    this.#heard = [];
    const touched = new Set<string>();
    const before = this.#known;
    const end = this.#world.now() + BUDGET_S;
    let taken = 0;
    do this.#take(heard[taken] as FromServer, touched);
    while ((taken += 1) < heard.length && this.#world.now() < end);
    for (const document of touched) this.#ack(document);
    if (this.#known !== before) this.#changed(this.#known);
    for (const document of [...this.#seeking.keys()]) this.#seekOn(document);
    if (taken < heard.length) this.#putBack(heard.slice(taken));
  }

  #putBack(rest: readonly FromServer[]): void {
    this.#heard = [...rest, ...this.#heard];
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#world.nextFrame(() => this.#takeIn());
  }

  #take(message: FromServer, touched: Set<string>): void {
    switch (message.type) {
      case "snapshot":
        touched.add(message.document);
        return this.#quietly(fromSnapshot(message));
      case "changes":
        touched.add(message.document);
        return this.#takeChanges(message);
      case "page": {
        const known = this.#known.documents.get(message.document);
        return known ? this.#quietly(paged(known, message)) : undefined;
      }
      case "intent_result":
        return this.#takeResult(message);
      case "error":
        return this.#takeProblem(message);
      case "pong":
        this.#known = { ...this.#known, skew: message.time - this.#world.now() };
        return;
    }
  }

  #takeResult(result: IntentResult): void {
    const intent = this.#outbox.answered(result);
    this.#known = { ...this.#known, outbox: this.#outbox.waiting };
    if (intent !== null && !result.ok) this.#refused(intent, result);
  }

  #takeChanges(message: Extract<FromServer, { type: "changes" }>): void {
    const known = this.#document(message.document);
    if (!known || message.seq < known.seq) return;
    const after = changed(known, message);
    if (after) return this.#quietly(after);
    // Something was missed: begin again from a snapshot.
    this.#connection.send(opening(message.document, undefined));
  }

  #takeProblem(problem: Problem): void {
    if (problem.code === "not_found" && problem.document !== null) {
      const missing = new Map(this.#known.missing).set(problem.document, problem.message);
      this.#known = { ...this.#known, missing };
      return;
    }
    const known = problem.document === null ? undefined : this.#document(problem.document);
    this.#giveUp(problem.document ?? "");
    if (known?.fetching) this.#quietly({ ...known, fetching: false });
    this.#problem(problem);
  }

  #ack(document: string): void {
    const known = this.#document(document);
    if (known) this.#connection.send({ type: "ack", document, seq: known.seq });
  }

  #lobby: Followed | null = null;

  #document(name: string): Followed | undefined {
    return name === LOBBY ? (this.#lobby ?? undefined) : this.#known.documents.get(name);
  }

  #quietly(document: Followed): void {
    if (document.name === LOBBY) {
      this.#lobby = document;
      this.#known = { ...this.#known, lobby: document.state as unknown as Lobby };
      return;
    }
    const documents = new Map(this.#known.documents).set(document.name, document);
    const missing = new Map(this.#known.missing);
    missing.delete(document.name);
    this.#known = { ...this.#known, documents, missing };
  }

  #put(document: Followed): void {
    this.#quietly(document);
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
