/** The sessions that the user of this device has viewed; stored, and shared by its tabs. */
import { isUnread, readSeen, unreadOf, withSeen, type SeenMarks } from "../core/sessions/unread.ts";
import type { SessionRow } from "../protocol/lobby.ts";
import { keep } from "./browser/browser.ts";

const NAME = "fairlead.seen";

class Seen {
  marks = $state.raw<SeenMarks>(readSeen(keep.get(NAME), Date.now() / 1000));

  constructor() {
    if (keep.get(NAME) === null) keep.set(NAME, JSON.stringify(this.marks));
    addEventListener("storage", (event) => {
      if (event.key === NAME) this.marks = readSeen(event.newValue, this.marks.since);
    });
  }

  isUnread(row: SessionRow): boolean {
    return isUnread(row, this.marks);
  }

  unread(rows: readonly SessionRow[]): readonly SessionRow[] {
    return unreadOf(rows, this.marks);
  }

  /** The user has viewed a session when its turn ended; its row in the lobby may say that later. */
  viewed(session: string, ended: number): void {
    if ((this.marks.sessions[session] ?? 0) >= ended) return;
    this.marks = { ...this.marks, sessions: { ...this.marks.sessions, [session]: ended } };
    keep.set(NAME, JSON.stringify(this.marks));
  }

  /** The user has viewed these sessions. */
  mark(rows: readonly SessionRow[], all: readonly SessionRow[]): void {
    this.marks = withSeen(this.marks, rows, all);
    keep.set(NAME, JSON.stringify(this.marks));
  }
}

export const seen = new Seen();
