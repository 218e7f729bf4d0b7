/**
 * What was asked for and not answered: intents with their numbers, kept until the server says what
 * became of them. After a lost socket they are sent again; the server acts once for each number.
 */
import type { Intent } from "../protocol/intents.ts";
import type { IntentResult, SendIntent } from "../protocol/messages.ts";
import type { Keep } from "./world.ts";

/** An intent on its way. */
export interface Waiting {
  readonly n: number;
  readonly intent: Intent;
  readonly at: number;
}

interface Stored {
  readonly next: number;
  readonly waiting: readonly Waiting[];
}

export class Outbox {
  #next = 1;
  #waiting: readonly Waiting[] = [];
  readonly #answers = new Map<number, (result: IntentResult) => void>();
  readonly #keep: Keep;
  readonly #name: string;

  constructor(keep: Keep, client: string) {
    this.#keep = keep;
    this.#name = `fairlead.outbox.${client}`;
    this.#read();
  }

  /** What is on its way, in order. */
  get waiting(): readonly Waiting[] {
    return this.#waiting;
  }

  /** Take an intent in; it has its number from now on, and is kept. */
  put(intent: Intent, at: number): { message: SendIntent; answer: Promise<IntentResult> } {
    const n = this.#next;
    this.#next += 1;
    this.#waiting = [...this.#waiting.filter((one) => !outdates(intent, one)), { n, intent, at }];
    this.#write();
    const answer = new Promise<IntentResult>((resolve) => this.#answers.set(n, resolve));
    return { message: { type: "intent", n, intent }, answer };
  }

  /** The server has said what became of one; gives the intent if it was on its way. */
  answered(result: IntentResult): Intent | null {
    const found = this.#waiting.find((one) => one.n === result.n);
    this.#waiting = this.#waiting.filter((one) => one.n !== result.n);
    this.#write();
    this.#answers.get(result.n)?.(result);
    this.#answers.delete(result.n);
    return found?.intent ?? null;
  }

  /**
   * The messages to send after a welcome. The server may have acted on more than we know: when this
   * device lost its memory, numbers go on above the highest one that was acted on.
   */
  again(lastIntent: number): readonly SendIntent[] {
    if (this.#next <= lastIntent) {
      this.#next = lastIntent + 1;
      this.#write();
    }
    return this.#waiting.map(({ n, intent }) => ({ type: "intent", n, intent }));
  }

  #read(): void {
    const text = this.#keep.get(this.#name);
    if (text === null) return;
    try {
      const stored = JSON.parse(text) as Stored;
      this.#next = stored.next;
      this.#waiting = stored.waiting;
    } catch {
      this.#keep.remove(this.#name); // Half a text from a full disk: nothing can be told from it.
    }
  }

  #write(): void {
    const stored: Stored = { next: this.#next, waiting: this.#waiting };
    this.#keep.set(this.#name, JSON.stringify(stored));
  }
}

/** Of several drafts of one session only the last counts, however long nobody could be told. */
function outdates(intent: Intent, before: Waiting): boolean {
  if (intent.kind !== "keep_draft" || before.intent.kind !== "keep_draft") return false;
  return intent.session === before.intent.session;
}
