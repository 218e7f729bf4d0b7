/**
 * Where somebody is in the conversation, and going elsewhere: the row that has the focus, which stays
 * drawn wherever one scrolls, and the row one was just brought to. Only rows near the screen have
 * nodes, so to go far is to scroll first and to wait for the row.
 */
import { tick } from "svelte";
import type { VirtualizerHandle } from "virtua/svelte";
import type { TranscriptRow } from "../../core/rows.ts";
import type { Item } from "../../protocol/transcript.ts";
import type { Following } from "./following.svelte.ts";
import { opened } from "./opened.svelte.ts";

/** What one moves about in; read anew each time, for all of it changes. */
export interface Ground {
  readonly session: string;
  readonly rows: readonly TranscriptRow[];
  readonly items: readonly Item[];
  readonly scroller: HTMLElement | undefined;
  readonly list: VirtualizerHandle | undefined;
}

/**
 * How one is brought to a row: `shown` marks it for a moment and gives it the focus, `reached` only
 * the focus and moves no more than it must, `seen` leaves the focus where it is.
 */
export type Manner = "shown" | "reached" | "seen";

const SHOWN_MS = 1_800;
const MOST_FRAMES = 30;

export class Places {
  focused = $state<string | null>(null);
  shown = $state<string | null>(null);
  readonly #ground: Ground;
  readonly #following: Following;

  constructor(ground: Ground, following: Following) {
    this.#ground = ground;
    this.#following = following;
  }

  /** The rows that stay drawn. */
  readonly keep = $derived.by(() => {
    if (this.focused === null) return [];
    const at = this.#ground.rows.findIndex((row) => row.id === this.focused);
    return at < 0 ? [] : [at];
  });

  /** The node of a row, if it is drawn. */
  drawn(id: string): HTMLElement | null {
    return this.#ground.scroller?.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"]`) ?? null;
  }

  /** The first item of what is on the screen. */
  topItem(): string | null {
    const { list, scroller, rows } = this.#ground;
    if (!list || !scroller) return null;
    const from = list.findItemIndex(scroller.scrollTop);
    return rows.slice(from).find((row) => row.kind === "item")?.id ?? null;
  }

  /** The row of an item, or of the call whose subagent it belongs to. */
  rowOf(id: string): string {
    return this.#pathTo(id).at(-1) ?? id;
  }

  /** To an item that is here, opened with all it is nested in; false if it is not here. */
  show(id: string, how: Manner = "shown"): boolean {
    const path = this.#pathTo(id);
    const at = this.#ground.rows.findIndex((row) => row.id === path.at(-1));
    if (at < 0) return false;
    const { session } = this.#ground;
    for (const parent of path.slice(1)) opened.set(`${session}/${parent}/steps`, true);
    opened.set(`${session}/${id}`, true);
    void this.bringTo(at, how);
    return true;
  }

  /** The place of the prompt before or after what is on the screen; -1 if there is none. */
  promptFrom(step: 1 | -1): number {
    const { list, scroller, rows } = this.#ground;
    if (!list || !scroller) return -1;
    const top = scroller.scrollTop;
    const here = list.findItemIndex(top + (step > 0 ? 24 : -8));
    for (let at = step > 0 ? here + 1 : here; at >= 0 && at < rows.length; at += step) {
      const row = rows[at];
      const isPrompt = row?.kind === "item" && row.item.kind === "prompt";
      if (isPrompt && (step > 0 || list.getItemOffset(at) < top - 8)) return at;
    }
    return -1;
  }

  /** From the row with the focus, else from what is on the screen, to the next one. */
  step(by: 1 | -1): void {
    const { list, scroller, rows } = this.#ground;
    if (!list || !scroller) return;
    const unfocused = this.#following.on ? rows.length : list.findItemIndex(scroller.scrollTop) - (by > 0 ? 1 : 0);
    const here = this.keep[0] ?? unfocused;
    void this.bringTo(Math.max(0, Math.min(rows.length - 1, here + by)), "reached");
  }

  async bringTo(at: number, how: Manner): Promise<void> {
    const { list, rows } = this.#ground;
    const row = rows[at];
    if (!row || !list) return;
    this.#following.leave();
    if (how !== "reached") this.shown = row.id;
    if (how !== "seen") this.focused = row.id;
    list.scrollToIndex(at, how === "reached" ? { align: "nearest" } : { align: "start", offset: -16 });
    await this.#whenDrawn(row.id);
    if (how !== "seen") this.drawn(row.id)?.focus({ preventScroll: true });
    setTimeout(() => this.shown === row.id && (this.shown = null), SHOWN_MS);
  }

  /** The list moves its rows about, and a node that is moved loses the focus: give it back. */
  holdFocus(): void {
    if (this.focused !== null && document.activeElement === document.body) {
      this.drawn(this.focused)?.focus({ preventScroll: true });
    }
  }

  /** A row far away is drawn when the list has come to it, some frames later. */
  async #whenDrawn(id: string): Promise<void> {
    await tick();
    for (let frames = 0; frames < MOST_FRAMES && !this.drawn(id); frames += 1) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
  }

  /** An item and what it is nested in, the innermost first. */
  #pathTo(id: string): readonly string[] {
    const { items } = this.#ground;
    const path = [id];
    let item = items.find((one) => one.id === id);
    while (item?.parent) {
      const parent = item.parent;
      path.push(parent);
      item = items.find((one) => one.id === parent);
    }
    return path;
  }
}
