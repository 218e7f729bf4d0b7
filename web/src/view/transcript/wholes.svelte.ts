/** Items that the server sends by their beginning, as a whole, for as long as the page is open. */
import { SvelteMap } from "svelte/reactivity";
import type { Shortened } from "../../core/documents.ts";
import { written } from "../../core/routes.ts";
import type { Item } from "../../protocol/messages.ts";
import type { App } from "../app.svelte.ts";

interface Whole {
  readonly item: Item;
  /** How long it was when it was asked for. */
  readonly length: number;
}

/** Letters that a card can draw at once without holding up the page; more is drawn in pieces. */
export const CARD_LETTERS = 300_000;

/** The length of all that was cut off an item, or 0. */
export function cutLength(item: Item & Shortened): number {
  return Object.values(item.cut ?? {}).reduce((sum, one) => sum + one, 0);
}

class Wholes {
  readonly #known = new SvelteMap<string, Whole>();

  /** The whole item, if it was asked for and has not grown since; else what there is of it. */
  of(session: string, item: Item): Item {
    const length = cutLength(item);
    const found = length === 0 ? undefined : this.#known.get(`${session}/${item.id}`);
    return found && found.length >= length ? found.item : item;
  }

  /** The whole item, from the server if need be; what there is of it, if the server cannot send it. */
  async ask(app: App, session: string, item: Item): Promise<Item> {
    const length = cutLength(item);
    const known = this.of(session, item);
    if (length === 0 || known !== item) return known;
    try {
      const answer = await app.call(`/api/sessions/${session}/item?${written({ id: item.id })}`);
      if (!answer.ok) throw new Error(answer.statusText);
      const whole = (await answer.json()) as Item;
      this.#known.set(`${session}/${item.id}`, { item: whole, length });
      return whole;
    } catch {
      app.say("The server could not send all of it. Try again.", "bad");
      return item;
    }
  }
}

export const wholes = new Wholes();
