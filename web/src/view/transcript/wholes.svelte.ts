/** Items and turns that the server sends by their beginning, as a whole, for as long as the page is open. */
import { SvelteMap } from "svelte/reactivity";
import type { Shortened } from "../../core/documents.ts";
import { written } from "../../core/routes.ts";
import type { Item, Turn } from "../../protocol/transcript.ts";
import type { App } from "../app.svelte.ts";

/** What can be cut and is shown. What was answered to a request is cut too, and its item has all of it. */
type Row = Item | Turn;

interface Whole {
  readonly row: Row;
  /** How long it was when it was asked for. */
  readonly length: number;
}

/** Letters that a card can draw at once without holding up the page; more is drawn in pieces. */
export const CARD_LETTERS = 300_000;

/** The full length of all that was cut, or 0. */
export function cutLength(row: Shortened): number {
  return Object.values(row.cut ?? {}).reduce((sum, one) => sum + one, 0);
}

class Wholes {
  readonly #known = new SvelteMap<string, Whole>();

  /** The whole row, if it was asked for and has not grown since; else what there is of it. */
  of<R extends Row>(session: string, row: R): R {
    const length = cutLength(row);
    const found = length === 0 ? undefined : this.#known.get(`${session}/${row.id}`);
    return found && found.length >= length ? (found.row as R) : row;
  }

  /** The whole row, from the server if need be; what there is of it, if the server cannot send it. */
  async ask<R extends Row>(app: App, session: string, row: R): Promise<R> {
    const length = cutLength(row);
    const known = this.of(session, row);
    if (length === 0 || known !== row) return known;
    try {
      const list = "kind" in row ? "items" : "turns";
      const answer = await app.call(`/api/sessions/${session}/item?${written({ id: row.id, of: list })}`);
      if (!answer.ok) throw new Error(answer.statusText);
      const whole = (await answer.json()) as R;
      this.#known.set(`${session}/${row.id}`, { row: whole, length });
      return whole;
    } catch {
      app.say("The server could not send all of it. Try again.", "bad");
      return row;
    }
  }
}

export const wholes = new Wholes();
