// Generated from src/fairlead/server/protocol/lobby_rows.py by `python -m fairlead.server.protocol.typescript`. Do not edit.

/** A budget whose warning or whose limit is reached. */
export interface BudgetAlert {
  readonly id: string;
  readonly scope: string;
  readonly key: string;
  readonly limit_usd: number;
  readonly spent_usd: number;
  readonly level: string;
}

/** A paired device, and whether it is connected. */
export interface DeviceRow {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly last_seen: number;
  readonly connected: boolean;
}

/** A device has a draft for a session; clients that may send prompts can request its text. */
export interface DraftMark {
  readonly device: string;
  readonly at: number;
}

/** An open request in the lobby. */
export interface InboxRow {
  readonly id: string;
  readonly session: string;
  readonly session_title: string;
  readonly request_id: string;
  readonly kind: string;
  readonly tool_name: string;
  readonly title: string;
  readonly at: number;
  readonly input_sha256: string;
  readonly subject: string;
  readonly reason: string;
  readonly group: string;
  readonly held: { readonly [key: string]: unknown } | null;
  readonly node: string;
}

/** One usage window of an account, as a CLI reported it last. */
export interface LimitRow {
  readonly account: string;
  readonly kind: string;
  readonly utilization: number | null;
  readonly resets_at: number | null;
  readonly status: string | null;
  readonly at: number;
}

/** A usage limit that stops a session. */
export interface ListedLimit {
  readonly kind: string;
  readonly resets_at: number | null;
  readonly continues_at: number | null;
}

/** The machine that a session was moved to. */
export interface ListedMove {
  readonly node: string;
  readonly name: string;
  readonly generation: number;
  readonly move: string;
  readonly link: string;
  readonly at: number;
}

/** The state of a listed session; a part of the transcript's status. */
export interface ListedStatus {
  readonly state: string;
  readonly since: number;
  readonly last_event: number;
  readonly waiting: number;
  readonly background: number;
  readonly detail: string | null;
}

/** The linked worktree of a session. */
export interface ListedWorktree {
  readonly repository: string;
  readonly path: string;
  readonly branch: string;
  readonly base: string;
  readonly state: string;
  readonly setup: string;
  readonly setup_output: string;
}

/** The whole lobby. */
export interface Lobby {
  readonly sessions: readonly SessionRow[];
  readonly inbox: readonly InboxRow[];
  readonly devices: readonly DeviceRow[];
  readonly nodes: readonly NodeRow[];
  readonly server: ServerInfo;
}

/** A machine of a fleet. */
export interface NodeRow {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly since: number;
  readonly version: string;
  readonly cli_version: string;
  readonly agent: string;
  readonly load: number;
  readonly disk_free: number;
  readonly disk_total: number;
  readonly store: StoreInfo;
  readonly running: number;
  readonly draining: boolean;
  readonly roots: readonly string[];
  readonly replicated: boolean;
  readonly limits: readonly LimitRow[];
  readonly problem: string | null;
}

/** A profile that a new session can use, besides the default one. */
export interface ProfileRow {
  readonly name: string;
  readonly label: string;
}

/** The progress of a long scan. */
export interface Progress {
  readonly done: number;
  readonly total: number;
}

/** Information about the server itself. */
export interface ServerInfo {
  readonly agent: string;
  readonly version: string;
  readonly mode_ceiling: string;
  readonly roots: readonly string[];
  readonly store: StoreInfo;
  readonly listing: Progress | null;
  readonly listing_problem: string | null;
  readonly indexing: Progress | null;
  readonly budgets: readonly BudgetAlert[];
  readonly limits: readonly LimitRow[];
  readonly profiles: readonly ProfileRow[];
  readonly continue_at_reset: boolean;
  readonly terminal: boolean;
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
  readonly drafts: readonly DraftMark[];
  readonly workbench_at: number;
  readonly resume_problem: string | null;
  readonly branch: string | null;
  readonly finished: number | null;
  readonly outcome: string | null;
  readonly last_sentence: string;
  readonly tasks: TaskCount | null;
  readonly lines_added: number;
  readonly lines_removed: number;
  readonly tags: readonly string[];
  readonly worktree: ListedWorktree | null;
  readonly deleting: number | null;
  readonly limit: ListedLimit | null;
  readonly continue_at_reset: boolean | null;
  readonly profile: string;
  readonly node: string;
  readonly generation: number;
  readonly moved: ListedMove | null;
}

/** Whether events can be stored, and why not. */
export interface StoreInfo {
  readonly state: string;
  readonly reason: string | null;
}

/** How many of the model's tasks are completed. */
export interface TaskCount {
  readonly done: number;
  readonly total: number;
}
