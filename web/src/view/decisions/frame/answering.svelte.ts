/** An answer that is being sent: one at a time, and the server's reason if it refuses the answer. */
import type { SendIntent } from "../../../core/connection/client.ts";

type Intent = Parameters<SendIntent>[0];

export class Answering {
  /** Whether an answer was sent. It stays true after the server accepted it, until the request closes. */
  sending = $state(false);
  problem = $state("");
  readonly #send: SendIntent;

  constructor(send: SendIntent) {
    this.#send = send;
  }

  async give(intent: Intent): Promise<void> {
    if (this.sending) return;
    this.sending = true;
    this.problem = "";
    const result = await this.#send(intent);
    if (result.ok) return;
    this.sending = false;
    this.problem = result.message ?? "The server refused that.";
  }
}
