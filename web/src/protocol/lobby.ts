// Generated from src/fairlead/server/lobby_rows.py by `python -m fairlead.server.typescript`. Do not edit.

/** A device that may come, and whether it is here. */
export interface DeviceRow {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly last_seen: number;
  readonly connected: boolean;
}

/** Something that waits for an answer, in the lobby. */
export interface InboxRow {
  readonly id: string;
  readonly session: string;
  readonly session_title: string;
  readonly request_id: string;
  readonly kind: string;
  readonly tool_name: string;
  readonly title: string;
  readonly at: number;
}

/** What a session in the list is doing; a part of the transcript's status. */
export interface ListedStatus {
  readonly state: string;
  readonly since: number;
  readonly last_event: number;
  readonly waiting: number;
  readonly background: number;
  readonly detail: string | null;
}

/** The whole lobby. */
export interface Lobby {
  readonly sessions: readonly SessionRow[];
  readonly inbox: readonly InboxRow[];
  readonly devices: readonly DeviceRow[];
  readonly server: ServerInfo;
}

/** How far a long look has come. */
export interface Progress {
  readonly done: number;
  readonly total: number;
}

/** The server itself. */
export interface ServerInfo {
  readonly agent: string;
  readonly version: string;
  readonly mode_ceiling: string;
  readonly roots: readonly string[];
  readonly store: StoreInfo;
  readonly listing: Progress | null;
  readonly indexing: Progress | null;
}

/** A session in the lobby. */
export interface SessionRow {
  readonly id: string;
  readonly title: string;
  readonly cwd: string;
  readonly cli_session_id: string | null;
  readonly status: ListedStatus;
  readonly live: boolean;
  readonly model: string | null;
  readonly mode: string | null;
  readonly effort: string | null;
  readonly cost_usd: number;
  readonly created: number;
  readonly last_activity: number;
  readonly pinned: boolean;
  readonly archived: boolean;
  readonly parent: string | null;
  readonly items: number;
  readonly pending: number;
  readonly source: string;
  readonly agent: string | null;
  readonly draft: string;
}

/** Whether events can be stored, and why not. */
export interface StoreInfo {
  readonly state: string;
  readonly reason: string | null;
}
