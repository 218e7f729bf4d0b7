/**
 * The conversation as rows to draw: items, what is on its way, and the end of each turn. `Layout`
 * keeps what it laid out before, and lays out again only from the first item that changed; a row
 * that did not change is the same object, so that nothing that shows it is drawn anew.
 */
import type { Send } from "../protocol/intents.ts";
import type { Item, PromptItem, Turn } from "../protocol/transcript.ts";
import type { Transcript } from "./documents.ts";
import type { Waiting } from "./outbox.ts";

export type TranscriptRow =
  | { readonly kind: "item"; readonly id: string; readonly item: Item }
  | { readonly kind: "turn"; readonly id: string; readonly turn: Turn }
  | { readonly kind: "unsent"; readonly id: string; readonly intent: Send };

export interface Laid {
  readonly rows: readonly TranscriptRow[];
  /** What subagents did, by the tool item they belong to. */
  readonly children: ReadonlyMap<string, readonly Item[]>;
  /** Prompts that wait in the queue, in order; they stand at the composer, not in the rows. */
  readonly queued: readonly PromptItem[];
}

type Given = Pick<Transcript, "items" | "turns">;

const NOTHING: Laid = { rows: [], children: new Map(), queued: [] };

/** Lay a transcript out at once. `outbox` holds prompts of ours that no document shows yet. */
export function layOut(transcript: Given, session: string, outbox: readonly Waiting[]): Laid {
  return new Layout().update(transcript, session, outbox);
}

/** A transcript that is laid out again and again while it grows. */
export class Layout {
  #items: readonly Item[] = [];
  #turns: readonly Turn[] = [];
  #over: ReadonlyMap<string, Turn> = new Map();
  #ends: ReadonlyMap<string, Turn> = new Map();
  #busy = false;
  #rows: TranscriptRow[] = [];
  /** How many rows there are before each item. */
  #starts: number[] = [];
  /** The places of the items of each subagent, and of those that wait. */
  #below = new Map<string, number[]>();
  #waiting: number[] = [];
  #laid: Laid = NOTHING;
  #outbox: readonly Waiting[] = [];

  update({ items, turns }: Given, session: string, outbox: readonly Waiting[]): Laid {
    if (items === this.#items && turns === this.#turns && outbox === this.#outbox) return this.#laid;
    const common = sameUntil(items, this.#items);
    const from = Math.min(common, this.#takeTurns(items, turns, common));
    const touched = this.#cut(from);
    this.#extend(items, from, touched);
    this.#items = items;
    this.#outbox = outbox;
    this.#laid = this.#result(touched, session);
    return this.#laid;
  }

  /** Which turns are over, and after which items that stands; gives the first item where it is new. */
  #takeTurns(items: readonly Item[], turns: readonly Turn[], common: number): number {
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

  /** Forget what was laid out from an item on; gives the subagents that this concerns. */
  #cut(from: number): Set<string> {
    const touched = new Set<string>();
    this.#rows.length = this.#starts[from] ?? this.#rows.length;
    this.#starts.length = Math.min(from, this.#starts.length);
    while ((this.#waiting.at(-1) ?? -1) >= from) this.#waiting.pop();
    for (let at = from; at < this.#items.length; at += 1) {
      const parent = this.#items[at]?.parent ?? null;
      if (parent === null || touched.has(parent)) continue;
      touched.add(parent);
      const places = this.#below.get(parent);
      while (places && (places.at(-1) ?? -1) >= from) places.pop();
    }
    return touched;
  }

  #extend(items: readonly Item[], from: number, touched: Set<string>): void {
    const rows = this.#rows;
    for (let at = from; at < items.length; at += 1) {
      const item = items[at] as Item;
      this.#starts[at] = rows.length;
      if (item.parent !== null) {
        const places = this.#below.get(item.parent);
        if (places) places.push(at);
        else this.#below.set(item.parent, [at]);
        touched.add(item.parent);
      } else if (isQueued(item, this.#busy)) {
        this.#waiting.push(at);
      } else {
        rows.push({ kind: "item", id: item.id, item });
      }
      const turn = this.#ends.get(item.id);
      if (turn) rows.push({ kind: "turn", id: `end-${turn.id}`, turn });
    }
  }

  #result(touched: ReadonlySet<string>, session: string): Laid {
    const items = this.#items;
    let { children, queued } = this.#laid;
    if (touched.size > 0) {
      const fresh = new Map(children);
      for (const parent of touched) {
        const places = this.#below.get(parent) ?? [];
        if (places.length === 0) fresh.delete(parent);
        else fresh.set(parent, places.map((at) => items[at] as Item));
      }
      children = fresh;
    }
    const waiting = this.#waiting.map((at) => items[at] as PromptItem);
    if (waiting.length !== queued.length || waiting.some((item, at) => item !== queued[at])) queued = waiting;
    const rows: TranscriptRow[] = this.#rows.slice();
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

/** A prompt that nothing keeps from starting is no queue: it stands where its answer will. */
function isQueued(item: Item, busy: boolean): item is PromptItem {
  return item.kind === "prompt" && item.parent === null && busy && (item.state === "held" || item.state === "sent");
}

function firstQueued(items: readonly Item[]): number {
  const at = items.findIndex((item) => isQueued(item, true));
  return at < 0 ? items.length : at;
}

/** How many items are as they were. */
function sameUntil(items: readonly Item[], before: readonly Item[]): number {
  const most = Math.min(items.length, before.length);
  let at = 0;
  while (at < most && items[at] === before[at]) at += 1;
  return at;
}

function ended(turns: readonly Turn[]): ReadonlyMap<string, Turn> {
  return new Map(turns.filter((turn) => turn.outcome !== null).map((turn) => [turn.id, turn]));
}

function isEqual(one: ReadonlyMap<string, Turn>, other: ReadonlyMap<string, Turn>): boolean {
  if (one === other) return true;
  if (one.size !== other.size) return false;
  for (const [id, turn] of one) if (other.get(id) !== turn) return false;
  return true;
}

/** Whether one of the items from a place on belongs to a turn that is over. */
function concerns(over: ReadonlyMap<string, Turn>, items: readonly Item[], from: number): boolean {
  for (let at = from; at < items.length; at += 1) if (over.has(items[at]?.turn ?? "")) return true;
  return false;
}

/** The last item of each turn that is over, and that turn. */
function turnEnds(items: readonly Item[], over: ReadonlyMap<string, Turn>): ReadonlyMap<string, Turn> {
  const ends = new Map<string, Turn>();
  const seen = new Set<string>();
  for (let at = items.length - 1; at >= 0 && seen.size < over.size; at -= 1) {
    const { turn, parent, id } = items[at] as Item;
    const found = turn === null || parent !== null || seen.has(turn) ? undefined : over.get(turn);
    if (!found) continue;
    seen.add(found.id);
    ends.set(id, found);
  }
  return ends;
}
