/** An answer on its way: one at a time, and what the server said if it did not take it. */
import type { SendIntent } from "../../core/client.ts";

type Intent = Parameters<SendIntent>[0];

export class Answering {
  /** Whether one was sent. Stays so once it is taken: the request closes when the agent has it. */
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
