/** The conversation as rows to draw: items, what is on its way, and the end of each turn. Pure. */
import type { Item, PromptItem, Send, Turn } from "../protocol/messages.ts";
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

/** Lay a transcript out. `outbox` holds prompts of ours that no document shows yet. */
export function layOut(
  transcript: Transcript,
  session: string,
  outbox: readonly Waiting[],
): Laid {
  const busy = transcript.turns.some((turn) => turn.outcome === null);
  const children = new Map<string, Item[]>();
  const rows: TranscriptRow[] = [];
  const queued: PromptItem[] = [];
  const ends = turnEnds(transcript);
  const shown = new Set<string>();
  for (const item of transcript.items) {
    if (item.kind === "prompt" && item.uuid !== null) shown.add(item.uuid);
    if (item.parent !== null) {
      const list = children.get(item.parent);
      if (list) list.push(item);
      else children.set(item.parent, [item]);
    } else if (isQueued(item, busy)) {
      queued.push(item);
    } else {
      rows.push({ kind: "item", id: item.id, item });
    }
    const turn = ends.get(item.id);
    if (turn) rows.push({ kind: "turn", id: `end-${turn.id}`, turn });
  }
  for (const { intent } of outbox) {
    if (intent.kind !== "send" || intent.session !== session || shown.has(intent.uuid)) continue;
    rows.push({ kind: "unsent", id: `unsent-${intent.uuid}`, intent });
  }
  return { rows, children, queued };
}

/** A prompt that nothing keeps from starting is no queue: it stands where its answer will. */
function isQueued(item: Item, busy: boolean): item is PromptItem {
  return item.kind === "prompt" && busy && (item.state === "held" || item.state === "sent");
}

/** The last item of each turn that has ended, and that turn. */
function turnEnds(transcript: Transcript): ReadonlyMap<string, Turn> {
  const over = new Map<string, Turn>();
  for (const turn of transcript.turns) if (turn.outcome !== null) over.set(turn.id, turn);
  const last = new Map<string, string>();
  for (const item of transcript.items) {
    if (item.turn !== null && item.parent === null && over.has(item.turn)) {
      last.set(item.turn, item.id);
    }
  }
  const ends = new Map<string, Turn>();
  for (const [turn, item] of last) {
    const found = over.get(turn);
    if (found) ends.set(item, found);
  }
  return ends;
}
