/**
 * Intents without a result: stored with their numbers until the server answers. After a lost socket
 * they are sent again; the server acts once for each number.
 */
import type { Intent } from "../../protocol/intents.ts";
import type { IntentResult, SendIntent } from "../../protocol/messages.ts";
import type { TextStore } from "./world.ts";

/** An intent without a result. */
export interface Waiting {
  readonly n: number;
  readonly intent: Intent;
  readonly at: number;
  /** In a fleet: the machine that carries out an intent without a session. */
  readonly node?: string;
}

interface Stored {
  readonly next: number;
  readonly waiting: readonly Waiting[];
}

export class Outbox {
  #next = 1;
  #waiting: readonly Waiting[] = [];
  readonly #answers = new Map<number, (result: IntentResult) => void>();
  readonly #keep: TextStore;
  readonly #name: string;

  constructor(keep: TextStore, client: string) {
    this.#keep = keep;
    this.#name = `fairlead.outbox.${client}`;
    this.#read();
  }

  /** The intents without a result, in order. */
  get waiting(): readonly Waiting[] {
    return this.#waiting;
  }

  /** Add an intent: assign its number and store it. */
  put(intent: Intent, at: number, node = ""): { message: SendIntent; answer: Promise<IntentResult> } {
    const n = this.#next;
    this.#next += 1;
    this.#waiting = [...this.#waiting.filter((waiting) => !replaces(intent, waiting)), { n, intent, at, ...(node ? { node } : {}) }];
    this.#write();
    const answer = new Promise<IntentResult>((resolve) => this.#answers.set(n, resolve));
    return { message: messageOf({ n, intent, at, node }), answer };
  }

  /** Remove an intent that the server answered; returns the intent if it was in the outbox. */
  answered(result: IntentResult): Intent | null {
    const waiting = this.#waiting.find((each) => each.n === result.n);
    this.#waiting = this.#waiting.filter((each) => each.n !== result.n);
    this.#write();
    this.#answers.get(result.n)?.(result);
    this.#answers.delete(result.n);
    return waiting?.intent ?? null;
  }

  /**
   * The messages to send after a welcome. If this device lost its storage, the server may know higher
   * numbers; then the next numbers continue above the highest one.
   */
  again(lastIntent: number): readonly SendIntent[] {
    if (this.#next <= lastIntent) {
      this.#next = lastIntent + 1;
      this.#write();
    }
    return this.#waiting.map(messageOf);
  }

  #read(): void {
    const text = this.#keep.get(this.#name);
    if (text === null) return;
    try {
      const stored = JSON.parse(text) as Stored;
      this.#next = stored.next;
      this.#waiting = stored.waiting;
    } catch {
      this.#keep.remove(this.#name); // A text that a full disk cut off cannot be read.
    }
  }

  #write(): void {
    const stored: Stored = { next: this.#next, waiting: this.#waiting };
    this.#keep.set(this.#name, JSON.stringify(stored));
  }
}

/** A server outside a fleet may be older and refuse a field that it does not know. */
function messageOf({ n, intent, node }: Waiting): SendIntent {
  return { type: "intent", n, intent, ...(node ? { node } : {}) };
}

/** Only the last draft of a session counts, however long the client was offline. */
function replaces(intent: Intent, before: Waiting): boolean {
  if (intent.kind !== "keep_draft" || before.intent.kind !== "keep_draft") return false;
  return intent.session === before.intent.session;
}
