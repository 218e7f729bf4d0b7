/** The full items and turns of which the server sent only the beginning, cached while the page is open. */
import { SvelteMap } from "svelte/reactivity";
import type { Shortened } from "../core/connection/documents.ts";
import { written } from "../core/routes.ts";
import type { Item, Turn } from "../protocol/transcript.ts";
import type { App } from "./app.svelte.ts";

/** Rows that can be cut. Answers to requests are cut too, but their items have the full text. */
type Row = Item | Turn;

interface Whole {
  readonly row: Row;
  /** Its full length when it was requested. */
  readonly length: number;
}

/** Most characters that a card draws at once without delaying the page; more is drawn in pieces. */
export const CARD_LETTERS = 300_000;

/** The full length of all cut fields, or 0. */
export function cutLength(row: Shortened): number {
  return Object.values(row.cut ?? {}).reduce((sum, length) => sum + length, 0);
}

class Wholes {
  readonly #known = new SvelteMap<string, Whole>();

  /** The full row, if it was loaded and has not grown since; otherwise the row itself. */
  of<R extends Row>(session: string, row: R): R {
    const length = cutLength(row);
    const whole = length === 0 ? undefined : this.#known.get(`${session}/${row.id}`);
    return whole && whole.length >= length ? (whole.row as R) : row;
  }

  /** The full row, loaded if needed; the row itself if the server cannot send it. */
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
      app.say("Couldn't load the rest. Try again.", "bad");
      return row;
    }
  }
}

export const wholes = new Wholes();
