/**
 * The conversation as rows to draw: items, unsent prompts, and the end of each turn. `Layout` caches
 * its last result and computes again only from the first changed item on; an unchanged row is the
 * same object, so that the components that show it are not updated.
 */
import type { Send } from "../../protocol/intents.ts";
import type { Item, PromptItem, Turn } from "../../protocol/transcript.ts";
import type { Transcript } from "../connection/documents.ts";
import { Folding, type Group } from "./folding.ts";
import { callOf, isHook } from "./hooks.ts";
import type { Waiting } from "../connection/outbox.ts";

export type TranscriptRow =
  | { readonly kind: "item"; readonly id: string; readonly item: Item }
  | Group
  | { readonly kind: "turn"; readonly id: string; readonly turn: Turn }
  | { readonly kind: "unsent"; readonly id: string; readonly intent: Send };

export interface Laid {
  readonly rows: readonly TranscriptRow[];
  /**
   * The items of subagents and the hooks of a call, by the tool item that they belong to; other hooks
   * that ran one after the other, by the first of them.
   */
  readonly children: ReadonlyMap<string, readonly Item[]>;
  /** Queued prompts in order; they are shown at the composer, not in the rows. */
  readonly queued: readonly PromptItem[];
}

type Conversation = Pick<Transcript, "items" | "turns">;

const NOTHING: Laid = { rows: [], children: new Map(), queued: [] };

/** The rows of a transcript. `outbox` has prompts of this client that no document contains yet. */
export function layOut(transcript: Conversation, session: string, outbox: readonly Waiting[]): Laid {
  return new Layout().update(transcript, session, outbox);
}

/** The rows of a transcript that grows. */
export class Layout {
  #items: readonly Item[] = [];
  #turns: readonly Turn[] = [];
  #over: ReadonlyMap<string, Turn> = new Map();
  #ends: ReadonlyMap<string, Turn> = new Map();
  #busy = false;
  #rows: TranscriptRow[] = [];
  /** The number of rows before each item. */
  #starts: number[] = [];
  /** For each item, the item below which it is shown; null if it has a row of its own. */
  #owners: (string | null)[] = [];
  /** The indexes of the items of each subagent, and of queued prompts. */
  #below = new Map<string, number[]>();
  #waiting: number[] = [];
  #laid: Laid = NOTHING;
  readonly #folding = new Folding();
  #outbox: readonly Waiting[] = [];

  update({ items, turns }: Conversation, session: string, outbox: readonly Waiting[]): Laid {
    if (items === this.#items && turns === this.#turns && outbox === this.#outbox) return this.#laid;
    const common = sameUntil(items, this.#items);
    const from = Math.min(common, this.#updateTurns(items, turns, common));
    const touched = this.#cut(from);
    this.#extend(items, from, touched);
    this.#items = items;
    this.#outbox = outbox;
    this.#laid = this.#result(touched, session);
    return this.#laid;
  }

  /** Find the turns that ended, and the items after which they end; returns the first item that changes. */
  #updateTurns(items: readonly Item[], turns: readonly Turn[], common: number): number {
    let from = common;
    if (turns !== this.#turns) {
      const busy = turns.some((turn) => turn.outcome === null);
      if (busy !== this.#busy) from = Math.min(from, ...this.#waiting, firstQueued(items));
      this.#busy = busy;
    }
    const over = turns === this.#turns ? this.#over : ended(turns);
    const moved = !isEqual(over, this.#over) || concerns(over, items, common) || concerns(over, this.#items, common);
    this.#turns = turns;
    this.#over = over;
    if (!moved) return from;
    const ends = turnEnds(items, over);
    for (let at = 0; at < from; at += 1) {
      const id = items[at]?.id ?? "";
      if (ends.get(id) !== this.#ends.get(id)) from = at;
    }
    this.#ends = ends;
    return from;
  }

  /** Forget the rows from an item on; returns the subagents that this concerns. */
  #cut(from: number): Set<string> {
    const touched = new Set<string>();
    this.#rows.length = this.#starts[from] ?? this.#rows.length;
    this.#starts.length = Math.min(from, this.#starts.length);
    const owners = this.#owners;
    this.#owners = owners.slice(0, from);
    while ((this.#waiting.at(-1) ?? -1) >= from) this.#waiting.pop();
    for (let at = from; at < this.#items.length; at += 1) {
      const parent = owners[at] ?? null;
      if (parent === null || touched.has(parent)) continue;
      touched.add(parent);
      const indexes = this.#below.get(parent);
      while (indexes && (indexes.at(-1) ?? -1) >= from) indexes.pop();
    }
    return touched;
  }

  #extend(items: readonly Item[], from: number, touched: Set<string>): void {
    const rows = this.#rows;
    for (let at = from; at < items.length; at += 1) {
      const item = items[at] as Item;
      this.#starts[at] = rows.length;
      const owner = (this.#owners[at] = this.#owner(items, at));
      if (owner !== null) {
        const indexes = this.#below.get(owner);
        if (indexes) indexes.push(at);
        else this.#below.set(owner, [at]);
        touched.add(owner);
      } else if (isQueued(item, this.#busy)) {
        this.#waiting.push(at);
      } else {
        rows.push({ kind: "item", id: item.id, item });
      }
      const turn = this.#ends.get(item.id);
      if (turn) rows.push({ kind: "turn", id: `end-${turn.id}`, turn });
    }
  }

  #owner(items: readonly Item[], at: number): string | null {
    const item = items[at] as Item;
    if (item.parent !== null || !isHook(item)) return item.parent;
    const call = callOf(item);
    if (call !== null) return call;
    const before = items[at - 1];
    const goesOn = before !== undefined && isHook(before) && callOf(before) === null && before.parent === null && before.turn === item.turn;
    return goesOn ? (this.#owners[at - 1] ?? before.id) : null;
  }

  #result(touched: ReadonlySet<string>, session: string): Laid {
    const items = this.#items;
    let { children, queued } = this.#laid;
    if (touched.size > 0) {
      const fresh = new Map(children);
      for (const parent of touched) {
        const indexes = this.#below.get(parent) ?? [];
        if (indexes.length === 0) fresh.delete(parent);
        else fresh.set(parent, indexes.map((at) => items[at] as Item));
      }
      children = fresh;
    }
    const waiting = this.#waiting.map((at) => items[at] as PromptItem);
    if (waiting.length !== queued.length || waiting.some((item, at) => item !== queued[at])) queued = waiting;
    const rows: TranscriptRow[] = this.#folding.fold(this.#rows, children).slice();
    for (const row of this.#unsent(session)) rows.push(row);
    return { rows, children, queued };
  }

  #unsent(session: string): TranscriptRow[] {
    const rows: TranscriptRow[] = [];
    for (const { intent } of this.#outbox) {
      if (intent.kind !== "send" || intent.session !== session) continue;
      const shown = (item: Item) => item.kind === "prompt" && item.uuid === intent.uuid;
      if (this.#items.findLast(shown) === undefined) rows.push({ kind: "unsent", id: `unsent-${intent.uuid}`, intent });
    }
    return rows;
  }
}

/** A prompt that can start at once is not queued: it is shown where its answer will be. */
function isQueued(item: Item, busy: boolean): item is PromptItem {
  return item.kind === "prompt" && item.parent === null && busy && (item.state === "held" || item.state === "sent");
}

function firstQueued(items: readonly Item[]): number {
  const at = items.findIndex((item) => isQueued(item, true));
  return at < 0 ? items.length : at;
}

/** The number of items at the start that did not change. */
function sameUntil(items: readonly Item[], before: readonly Item[]): number {
  const most = Math.min(items.length, before.length);
  let at = 0;
  while (at < most && items[at] === before[at]) at += 1;
  return at;
}

function ended(turns: readonly Turn[]): ReadonlyMap<string, Turn> {
  return new Map(turns.filter((turn) => turn.outcome !== null).map((turn) => [turn.id, turn]));
}

function isEqual(left: ReadonlyMap<string, Turn>, right: ReadonlyMap<string, Turn>): boolean {
  if (left === right) return true;
  if (left.size !== right.size) return false;
  for (const [id, turn] of left) if (right.get(id) !== turn) return false;
  return true;
}

/** Whether one of the items from an index on belongs to a turn that ended. */
function concerns(over: ReadonlyMap<string, Turn>, items: readonly Item[], from: number): boolean {
  for (let at = from; at < items.length; at += 1) if (over.has(items[at]?.turn ?? "")) return true;
  return false;
}

/** The last item of each turn that ended, and that turn. */
function turnEnds(items: readonly Item[], over: ReadonlyMap<string, Turn>): ReadonlyMap<string, Turn> {
  const ends = new Map<string, Turn>();
  const seen = new Set<string>();
  for (let at = items.length - 1; at >= 0 && seen.size < over.size; at -= 1) {
    const { turn, parent, id } = items[at] as Item;
    const ended = turn === null || parent !== null || seen.has(turn) ? undefined : over.get(turn);
    if (!ended) continue;
    seen.add(ended.id);
    ends.set(id, ended);
  }
  return ends;
}
