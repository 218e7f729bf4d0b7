/**
 * A transcript whose parts are tracked separately: a reader of the turns is not run again for each
 * character of an answer. The same object for as long as the document is followed.
 */
import type { Transcript } from "../core/connection/documents.ts";
import { statusOf } from "../core/sessions/status.ts";
import type { SessionRow } from "../protocol/lobby.ts";

type Read = () => Transcript;

export class LiveTranscript implements Transcript {
  readonly #read: Read;
  readonly #row: () => SessionRow | null;

  constructor(read: Read, row: () => SessionRow | null) {
    this.#read = read;
    this.#row = row;
  }

  readonly schema = $derived.by(() => this.#read().schema);
  readonly session = $derived.by(() => this.#read().session);
  readonly status = $derived.by(() => statusOf(this.#read().status, this.#row()));
  readonly items = $derived.by(() => this.#read().items);
  readonly turns = $derived.by(() => this.#read().turns);
  readonly past = $derived.by(() => this.#read().past ?? []);
  readonly pending = $derived.by(() => this.#read().pending);
  readonly settled = $derived.by(() => this.#read().settled);
  readonly tasks = $derived.by(() => this.#read().tasks);
  readonly background = $derived.by(() => this.#read().background);
  readonly files = $derived.by(() => this.#read().files);
  readonly ledger = $derived.by(() => this.#read().ledger);
}
