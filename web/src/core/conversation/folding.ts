/**
 * Folds consecutive calls that only read into one row: "Read 4 files, ran 2 searches". A call that
 * failed, was denied, waits for an answer, shows an image or has a subagent keeps its own row. Pure.
 */
import type { Item, ToolItem } from "../../protocol/transcript.ts";
import { isHook, isQuiet } from "./hooks.ts";
import { counted, fieldsOf } from "../plain.ts";
import type { TranscriptRow } from "./rows.ts";

type Kind = "file" | "search" | "page" | "webSearch";

/** The tools that change nothing, by what they do. */
const KINDS: Readonly<Record<string, Kind>> = {
  Read: "file",
  NotebookRead: "file",
  Grep: "search",
  Glob: "search",
  LS: "search",
  WebFetch: "page",
  WebSearch: "webSearch",
};

/** For each kind: the verb after it ran, while it runs, and the noun. */
const WORDS: Readonly<Record<Kind, readonly [string, string, string, string?]>> = {
  file: ["read", "reading", "file"],
  search: ["ran", "running", "search", "searches"],
  page: ["fetched", "fetching", "page"],
  webSearch: ["searched", "searching", "the web"],
};

const FEWEST = 2;

export interface Group {
  readonly kind: "group";
  /** The id of its first item, so that the row stays the same while the group grows. */
  readonly id: string;
  readonly items: readonly ToolItem[];
}

/** Folds rows again and again; a group that did not change stays the same object. */
export class Folding {
  #groups = new Map<string, Group>();

  fold(rows: readonly TranscriptRow[], children: ReadonlyMap<string, readonly Item[]>): readonly TranscriptRow[] {
    const folded: TranscriptRow[] = [];
    const groups = new Map<string, Group>();
    let run: ToolItem[] = [];
    const end = (): void => {
      const first = run[0];
      if (first && run.length >= FEWEST) {
        const group = this.#group(first.id, run);
        groups.set(group.id, group);
        folded.length -= run.length;
        folded.push(group);
      }
      run = [];
    };
    for (const row of rows) {
      const item = row.kind === "item" && row.item.kind === "tool" && folds(row.item) && isPlain(children.get(row.id)) ? row.item : null;
      if (item === null) end();
      folded.push(row);
      if (item !== null) run.push(item);
    }
    end();
    this.#groups = groups;
    return groups.size === 0 ? rows : folded;
  }

  #group(id: string, items: readonly ToolItem[]): Group {
    const before = this.#groups.get(id);
    const same = before?.items.length === items.length && before.items.every((item, at) => item === items[at]);
    return same && before ? before : { kind: "group", id, items };
  }
}

/** Whether nothing below a call is worth a row of its own: neither steps nor hooks that failed. */
function isPlain(below: readonly Item[] | undefined): boolean {
  return below === undefined || below.every((item) => isHook(item) && isQuiet(item));
}

/** Whether a call may be folded with its neighbors. */
export function folds(item: ToolItem): boolean {
  if (!Object.hasOwn(KINDS, item.name) || !item.complete || item.background) return false;
  if (item.state !== "done" && item.state !== "running") return false;
  return item.images.length === 0 && fieldsOf(item.structured)["type"] !== "image";
}

/** What a group did or does: `Read 4 files, ran 2 searches`. */
export function groupWords(group: Group): string {
  const running = group.items.some((item) => item.state === "running");
  const counts = new Map<Kind, number>();
  for (const item of group.items) {
    const kind = KINDS[item.name] ?? "file";
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const parts = [...counts].map(([kind, count]) => {
    const [past, present, noun, plural] = WORDS[kind];
    const verb = running ? present : past;
    if (kind === "webSearch") return `${verb} ${noun}${count > 1 ? ` ${count} times` : ""}`;
    return `${verb} ${counted(count, noun, plural)}`;
  });
  const text = parts.join(", ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The row that shows an item by itself or in a group; -1 if there is none. */
export function rowIndex(rows: readonly TranscriptRow[], item: string): number {
  return rows.findIndex((row) => row.id === item || (row.kind === "group" && row.items.some((member) => member.id === item)));
}
