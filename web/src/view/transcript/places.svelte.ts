/**
 * Where the user is in the conversation, and jumps to other places: the row that has the focus, which
 * stays drawn while the user scrolls, and the row of the last jump. Only rows near the screen have
 * nodes, so a far jump scrolls first and waits for the row.
 */
import { tick } from "svelte";
import type { VirtualizerHandle } from "virtua/svelte";
import { rowIndex } from "../../core/conversation/folding.ts";
import type { TranscriptRow } from "../../core/conversation/rows.ts";
import type { Item } from "../../protocol/transcript.ts";
import type { Following } from "./following.svelte.ts";
import { opened } from "./items/opened.svelte.ts";

/** The list and its rows; read again each time, because all of it changes. */
export interface Ground {
  readonly session: string;
  readonly rows: readonly TranscriptRow[];
  readonly items: readonly Item[];
  readonly scroller: HTMLElement | undefined;
  readonly list: VirtualizerHandle | undefined;
}

/**
 * How a jump ends: `shown` marks the row for a moment and focuses it, `reached` only focuses it and
 * scrolls as little as possible, `seen` leaves the focus where it is.
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

  /** The first visible item. */
  topItem(): string | null {
    const { list, scroller, rows } = this.#ground;
    if (!list || !scroller) return null;
    const from = list.findItemIndex(scroller.scrollTop);
    return rows.slice(from).find((row) => row.kind === "item" || row.kind === "group")?.id ?? null;
  }

  /** The row of an item, of its group, or of the call whose subagent it belongs to. */
  rowOf(id: string): string {
    const outermost = this.#pathTo(id).at(-1) ?? id;
    return this.#ground.rows[rowIndex(this.#ground.rows, outermost)]?.id ?? outermost;
  }

  /** Jump to a loaded item, and expand all items that contain it; false if it is not loaded. */
  show(id: string, how: Manner = "shown"): boolean {
    const path = this.#pathTo(id);
    const at = rowIndex(this.#ground.rows, path.at(-1) ?? id);
    const row = this.#ground.rows[at];
    if (!row) return false;
    const { session } = this.#ground;
    for (const parent of path.slice(1)) opened.set(`${session}/${parent}/steps`, true);
    if (row.kind === "group") opened.set(`${session}/${row.id}/group`, true);
    opened.set(`${session}/${id}`, true);
    void this.bringTo(at, how);
    return true;
  }

  /** The index of the prompt before or after the visible part; -1 if there is none. */
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

  /** Move from the focused row, or from the visible part, to the next row. */
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

  /** The list moves its nodes, and a node that is moved loses the focus: restore it. */
  holdFocus(): void {
    if (this.focused !== null && document.activeElement === document.body) {
      this.drawn(this.focused)?.focus({ preventScroll: true });
    }
  }

  /** A distant row is drawn some frames after the list has scrolled to it. */
  async #whenDrawn(id: string): Promise<void> {
    await tick();
    for (let frames = 0; frames < MOST_FRAMES && !this.drawn(id); frames += 1) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
  }

  /** An item and the items that contain it, the innermost first. */
  #pathTo(id: string): readonly string[] {
    const { items } = this.#ground;
    const path = [id];
    let item = items.find((entry) => entry.id === id);
    while (item?.parent) {
      const parent = item.parent;
      path.push(parent);
      item = items.find((entry) => entry.id === parent);
    }
    return path;
  }
}
