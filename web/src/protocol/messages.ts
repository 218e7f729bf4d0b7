// Generated from src/fairlead/server/messages.py, intents.py and transcript/model.py
// by `python -m fairlead.server.typescript`. Do not edit.


export const PROTOCOL = 1;

export const LOBBY = "lobby";

export const SCHEMA = 1;

/** The client has applied everything up to this number. */
export interface Ack {
  readonly type: "ack";
  readonly document: string;
  readonly seq: number;
}

/** Put a row into a list: before the row `before`, or at the end. */
export interface Add {
  readonly op: "add";
  readonly to: string;
  readonly row: unknown;
  readonly before: string | null;
}

/** Answer a dialog of the CLI's own with one of its answers; None closes it. */
export interface AnswerDialog {
  readonly kind: "answer_dialog";
  readonly session: string;
  readonly request_id: string;
  readonly answer?: string | null;
}

/** Fill in a form of an MCP server, decline it, or close it. */
export interface AnswerElicitation {
  readonly kind: "answer_elicitation";
  readonly session: string;
  readonly request_id: string;
  readonly action: string;
  readonly content?: { readonly [key: string]: unknown } | null;
}

/** Answer the model's questions; None declines. */
export interface AnswerQuestions {
  readonly kind: "answer_questions";
  readonly session: string;
  readonly request_id: string;
  readonly input_sha256: string;
  readonly answers: { readonly [key: string]: string | readonly string[] } | null;
  readonly notes?: { readonly [key: string]: string };
}

/** Cut a text of a row at `offset` and put `text` there; usually the offset is its length. */
export interface Append {
  readonly op: "append";
  readonly to: string;
  readonly id: string;
  readonly field: string;
  readonly offset: number;
  readonly text: string;
}

/** Take a session out of the list, or bring it back. */
export interface Archive {
  readonly kind: "archive";
  readonly session: string;
  readonly archived: boolean;
}

/** A file that was uploaded before, by the id the upload gave. */
export interface Attachment {
  readonly upload: string;
  readonly name?: string;
}

/** A subagent or a command that runs beside the conversation; its id is the task id. */
export interface Background {
  readonly id: string;
  readonly type: string;
  readonly tool: string | null;
  readonly description: string;
  readonly agent: string | null;
  readonly state: string;
  readonly backgrounded: boolean;
  readonly parent: string | null;
  readonly started: number;
  readonly ended: number | null;
  readonly tokens: number | null;
  readonly tool_uses: number | null;
  readonly duration_ms: number | null;
  readonly last_tool: string | null;
  readonly progress: string | null;
  readonly summary: string | null;
  readonly error: string | null;
  readonly output_file: string | null;
}

/** The server closes the socket on purpose; `again` says whether to come back. */
export interface Bye {
  readonly type: "bye";
  readonly reason: string;
  readonly again: boolean;
}

/** Take a prompt back that still waits. */
export interface CancelPrompt {
  readonly kind: "cancel_prompt";
  readonly session: string;
  readonly uuid: string;
}

/** What leads from one sequence number to another; see docs/transcript.md for the operations. */
export interface Changes {
  readonly type: "changes";
  readonly document: string;
  readonly from_seq: number;
  readonly seq: number;
  readonly changes: readonly unknown[];
}

/** Follow a document no longer. */
export interface Close {
  readonly type: "close";
  readonly document: string;
}

/** What a slash command printed. */
export interface CommandItem {
  readonly kind: "command";
  readonly id: string;
  readonly turn: string | null;
  readonly parent: string | null;
  readonly at: number;
  readonly command: string;
  readonly args: string;
  readonly text: string;
  readonly failed: boolean;
  readonly cut?: { readonly [field: string]: number };
}

/** Answer a permission request. */
export interface Decide {
  readonly kind: "decide";
  readonly session: string;
  readonly request_id: string;
  readonly input_sha256: string;
  readonly decision: string;
  readonly choices?: readonly number[];
  readonly input?: { readonly [key: string]: unknown } | null;
  readonly message?: string;
}

/** Approve a plan, also accepting edits if asked, or reject it with words. */
export interface DecidePlan {
  readonly kind: "decide_plan";
  readonly session: string;
  readonly request_id: string;
  readonly input_sha256: string;
  readonly approve: boolean;
  readonly accept_edits?: boolean;
  readonly message?: string;
}

/** Change a prompt that still waits. */
export interface EditPrompt {
  readonly kind: "edit_prompt";
  readonly session: string;
  readonly uuid: string;
  readonly text: string;
}

/** Older items than the ones the client has. */
export interface Fetch {
  readonly type: "fetch";
  readonly document: string;
  readonly before: string;
  readonly count?: number;
}

/** A file that a tool changed; its id is the path. */
export interface File {
  readonly id: string;
  readonly added: number;
  readonly removed: number;
  readonly edits: number;
  readonly created: boolean;
}

/** A new session with the history of another, up to a message if one is named. */
export interface Fork {
  readonly kind: "fork";
  readonly session: string;
  readonly at?: string | null;
}

/** The first message on a socket; nothing is answered before it. */
export interface Hello {
  readonly type: "hello";
  readonly protocol: number;
  readonly token: string;
  readonly client: string;
  readonly session?: string | null;
  readonly last_seq?: number | null;
  readonly epoch?: string | null;
  readonly oldest?: string | null;
}

/** What became of an intent. */
export interface IntentResult {
  readonly type: "intent_result";
  readonly n: number;
  readonly ok: boolean;
  readonly result: { readonly [key: string]: unknown };
  readonly code: string | null;
  readonly message: string | null;
}

/** Stop the running turn; a prompt that waits goes on unless it is cancelled too. */
export interface Interrupt {
  readonly kind: "interrupt";
  readonly session: string;
  readonly cancel_queued?: boolean;
}

/** Keep what was typed and not sent. */
export interface KeepDraft {
  readonly kind: "keep_draft";
  readonly session: string;
  readonly text: string;
}

/** Money, tokens and lines, summed over everything the transcript has seen. */
export interface Ledger {
  readonly cost_usd: number;
  readonly reported_usd: number | null;
  readonly models: { readonly [key: string]: unknown };
  readonly context: { readonly [key: string]: unknown } | null;
  readonly lines_added: number;
  readonly lines_removed: number;
  readonly files_changed: number;
}

/** Whether somebody looks at a document; one that nobody sees gets only its status. */
export interface Look {
  readonly type: "look";
  readonly document: string;
  readonly looking: boolean;
}

/** Connect an MCP server of the session again. */
export interface McpReconnect {
  readonly kind: "mcp_reconnect";
  readonly session: string;
  readonly server: string;
}

/** Sign in to an MCP server: gives the address to open in a browser. */
export interface McpSignIn {
  readonly kind: "mcp_sign_in";
  readonly session: string;
  readonly server: string;
  readonly callback?: string | null;
}

/** Switch an MCP server of the session on or off. */
export interface McpToggle {
  readonly kind: "mcp_toggle";
  readonly session: string;
  readonly server: string;
  readonly enabled: boolean;
}

/** Start a session in a folder. */
export interface NewSession {
  readonly kind: "new_session";
  readonly cwd: string;
  readonly prompt?: string | null;
  readonly model?: string | null;
  readonly mode?: string | null;
  readonly effort?: string | null;
  readonly title?: string | null;
  readonly max_turns?: number | null;
  readonly max_budget_usd?: number | null;
  readonly continue_latest?: boolean;
  readonly disallowed_tools?: readonly string[];
  readonly allowed_tools?: readonly string[];
  readonly mcp_servers?: { readonly [key: string]: { readonly [key: string]: unknown } };
}

/** Something that happened beside the conversation. */
export interface NoticeItem {
  readonly kind: "notice";
  readonly id: string;
  readonly turn: string | null;
  readonly parent: string | null;
  readonly at: number;
  readonly notice: string;
  readonly level: string;
  readonly text: string;
  readonly data: { readonly [key: string]: unknown };
  readonly cut?: { readonly [field: string]: number };
}

/** Follow a document from a sequence number on; None or a stale epoch means from a snapshot. */
export interface Open {
  readonly type: "open";
  readonly document: string;
  readonly last_seq?: number | null;
  readonly epoch?: string | null;
  readonly window?: number;
  readonly oldest?: string | null;
}

/** Older items, in order; they go before the ones the client has. */
export interface Page {
  readonly type: "page";
  readonly document: string;
  readonly before: string;
  readonly items: readonly unknown[];
  readonly window: Window;
  readonly turns: readonly unknown[];
}

/** A request of the CLI that a person must answer; its id is the request id. */
export interface Pending {
  readonly id: string;
  readonly kind: string;
  readonly at: number;
  readonly tool: string | null;
  readonly tool_name: string;
  readonly title: string;
  readonly input: unknown;
  readonly suggestions: readonly unknown[];
  readonly reason: string | null;
  readonly reason_type: string | null;
  readonly blocked_path: string | null;
  readonly description: string | null;
  readonly agent: string | null;
  readonly details: { readonly [key: string]: unknown };
}

/** Keep a session at the top of the list, or no longer. */
export interface Pin {
  readonly kind: "pin";
  readonly session: string;
  readonly pinned: boolean;
}

/** A sign of life with the server's clock, sent when nothing else was for a while. */
export interface Pong {
  readonly type: "pong";
  readonly time: number;
}

/** Something was wrong with a message; the socket stays open unless `Bye` follows. */
export interface Problem {
  readonly type: "error";
  readonly code: string;
  readonly message: string;
  readonly document: string | null;
  readonly details: { readonly [key: string]: unknown };
}

/** What a person (or, for a subagent, its parent) asked. */
export interface PromptItem {
  readonly kind: "prompt";
  readonly id: string;
  readonly turn: string | null;
  readonly parent: string | null;
  readonly at: number;
  readonly text: string;
  readonly images: readonly unknown[];
  readonly files: readonly unknown[];
  readonly state: string;
  readonly into: string | null;
  readonly command: string | null;
  readonly uuid: string | null;
  readonly priority: string | null;
  readonly by: string;
  readonly cut?: { readonly [field: string]: number };
}

/** Ask the CLI anew how full its context is and how its MCP servers are. */
export interface Refresh {
  readonly kind: "refresh";
  readonly session: string;
}

/** Take a row out of a list. */
export interface Remove {
  readonly op: "remove";
  readonly to: string;
  readonly id: string;
}

/** Give a session a name. */
export interface Rename {
  readonly kind: "rename";
  readonly session: string;
  readonly title: string;
}

/** Put the waiting prompts into another order. */
export interface ReorderPrompts {
  readonly kind: "reorder_prompts";
  readonly session: string;
  readonly uuids: readonly string[];
}

/** Put a new value in the place of a whole section. */
export interface Replace {
  readonly op: "replace";
  readonly to: string;
  readonly value: unknown;
}

/** End the process of a session and resume it at once. */
export interface Restart {
  readonly kind: "restart";
  readonly session: string;
}

/** Go on with a session: one of the server's own, or one the CLI made elsewhere. */
export interface Resume {
  readonly kind: "resume";
  readonly session: string;
  readonly repair?: boolean;
}

/** Take a device's token away; it is cut off at once. */
export interface RevokeDevice {
  readonly kind: "revoke_device";
  readonly device: string;
}

/** Put files back to where they were before a prompt. */
export interface RewindFiles {
  readonly kind: "rewind_files";
  readonly session: string;
  readonly prompt: string;
  readonly dry_run?: boolean;
}

/** Queue a prompt. */
export interface Send {
  readonly kind: "send";
  readonly session: string;
  readonly text: string;
  readonly uuid: string;
  readonly attachments?: readonly Attachment[];
  readonly at_once?: boolean;
}

/** Something the client wants done; acts once for each (client, n), however often it comes. */
export interface SendIntent {
  readonly type: "intent";
  readonly n: number;
  readonly intent: Intent;
}

/** Send a waiting prompt into the running turn. */
export interface SendNow {
  readonly kind: "send_now";
  readonly session: string;
  readonly uuid: string;
}

/** What is known of the session as a whole. */
export interface Session {
  readonly id: string | null;
  readonly previous_ids: readonly string[];
  readonly cwd: string | null;
  readonly model: string | null;
  readonly permission_mode: string | null;
  readonly version: string | null;
  readonly title: string | null;
  readonly output_style: string | null;
  readonly fast_mode: string | null;
  readonly fast_mode_reason: string | null;
  readonly effort: string | null;
  readonly api_key_source: string | null;
  readonly tools: readonly string[];
  readonly commands: readonly unknown[];
  readonly terminal_commands: readonly string[];
  readonly agents: readonly string[];
  readonly skills: readonly string[];
  readonly plugins: readonly unknown[];
  readonly mcp_servers: readonly unknown[];
  readonly capabilities: readonly string[];
  readonly directories: readonly string[];
  readonly models: readonly unknown[];
  readonly rate_limits: { readonly [key: string]: unknown };
  readonly goal: unknown;
  readonly suggestion: string | null;
}

/** Change how hard the model thinks. */
export interface SetEffort {
  readonly kind: "set_effort";
  readonly session: string;
  readonly effort: string;
}

/** Switch the model's fast mode on or off, where the CLI has one. */
export interface SetFastMode {
  readonly kind: "set_fast_mode";
  readonly session: string;
  readonly on: boolean;
}

/** Set fields of a row; with no `id`, of a section that is one object. */
export interface SetFields {
  readonly op: "set";
  readonly to: string;
  readonly id: string | null;
  readonly fields: { readonly [key: string]: unknown };
}

/** Change the permission mode, within the server's ceiling. */
export interface SetMode {
  readonly kind: "set_mode";
  readonly session: string;
  readonly mode: string;
}

/** Use another model of the session's own list. */
export interface SetModel {
  readonly kind: "set_model";
  readonly session: string;
  readonly model: string;
}

/** How a request of the CLI ended; its id is the request id. */
export interface Settled {
  readonly id: string;
  readonly kind: string;
  readonly tool: string | null;
  readonly tool_name: string;
  readonly at: number;
  readonly ended: number;
  readonly outcome: string;
  readonly answer: { readonly [key: string]: unknown } | null;
  readonly by: string | null;
  readonly cut?: { readonly [field: string]: number };
}

/** Everything a person would want to see. */
export interface Snapshot {
  readonly schema: number;
  readonly session: Session;
  readonly status: Status;
  readonly items: readonly Item[];
  readonly turns: readonly Turn[];
  readonly pending: readonly Pending[];
  readonly settled: readonly Settled[];
  readonly tasks: readonly Task[];
  readonly background: readonly Background[];
  readonly files: readonly File[];
  readonly ledger: Ledger;
}

/** The whole document at one moment, its items only from a window on. */
export interface SnapshotMessage {
  readonly type: "snapshot";
  readonly document: string;
  readonly epoch: string;
  readonly seq: number;
  readonly state: { readonly [key: string]: unknown };
  readonly window: Window;
}

/** What the session is doing right now. */
export interface Status {
  readonly state: string;
  readonly since: number;
  readonly last_event: number;
  readonly tool: string | null;
  readonly background: number;
  readonly waiting: number;
  readonly detail: string | null;
  readonly returncode: number | null;
}

/** End the process of a session; it can be resumed. */
export interface Stop {
  readonly kind: "stop";
  readonly session: string;
}

/** Stop a background task. */
export interface StopTask {
  readonly kind: "stop_task";
  readonly session: string;
  readonly task: string;
}

/** One entry of the model's own list of things to do. */
export interface Task {
  readonly id: string;
  readonly subject: string;
  readonly status: string;
  readonly active_form: string | null;
  readonly description: string | null;
  readonly owner: string | null;
  readonly blocks: readonly string[];
  readonly blocked_by: readonly string[];
  readonly source: string;
}

/** The end of what a background task has printed so far. */
export interface TaskOutput {
  readonly kind: "task_output";
  readonly session: string;
  readonly task: string;
}

/** Words of the model. */
export interface TextItem {
  readonly kind: "text";
  readonly id: string;
  readonly turn: string | null;
  readonly parent: string | null;
  readonly at: number;
  readonly text: string;
  readonly complete: boolean;
  readonly aborted: boolean;
  readonly model: string | null;
  readonly message: string | null;
  readonly citations: unknown;
  readonly cut?: { readonly [field: string]: number };
}

/** Reasoning of the model, or how much of it was withheld. */
export interface ThinkingItem {
  readonly kind: "thinking";
  readonly id: string;
  readonly turn: string | null;
  readonly parent: string | null;
  readonly at: number;
  readonly text: string;
  readonly complete: boolean;
  readonly redacted: boolean;
  readonly tokens: number | null;
  readonly duration_ms: number | null;
  readonly model: string | null;
  readonly message: string | null;
  readonly cut?: { readonly [field: string]: number };
}

/** A tool call, from the first letter of its input to its result. */
export interface ToolItem {
  readonly kind: "tool";
  readonly id: string;
  readonly turn: string | null;
  readonly parent: string | null;
  readonly at: number;
  readonly name: string;
  readonly title: string;
  readonly server: string | null;
  readonly input: unknown;
  readonly input_text: string;
  readonly complete: boolean;
  readonly state: string;
  readonly started: number | null;
  readonly ended: number | null;
  readonly elapsed: number | null;
  readonly result: string | null;
  readonly images: readonly unknown[];
  readonly structured: unknown;
  readonly decision: { readonly [key: string]: unknown } | null;
  readonly background: string | null;
  readonly summary: string | null;
  readonly by: string;
  readonly message: string | null;
  readonly cut?: { readonly [field: string]: number };
}

/** One round of work, from what started it to its result. */
export interface Turn {
  readonly id: string;
  readonly at: number;
  readonly ended: number | null;
  readonly origin: string;
  readonly origin_detail: unknown;
  readonly prompts: readonly string[];
  readonly outcome: string | null;
  readonly text: string | null;
  readonly errors: readonly string[];
  readonly structured_output: unknown;
  readonly cost_usd: number | null;
  readonly usage: { readonly [key: string]: unknown } | null;
  readonly models: { readonly [key: string]: unknown };
  readonly duration_ms: number | null;
  readonly api_ms: number | null;
  readonly ttft_ms: number | null;
  readonly steps: number | null;
  readonly denials: readonly unknown[];
  readonly stop_reason: string | null;
  readonly terminal_reason: string | null;
  readonly api_error_status: number | null;
  readonly cut?: { readonly [field: string]: number };
}

/** A line or a block that Fairlead does not know, kept whole. */
export interface UnknownItem {
  readonly kind: "unknown";
  readonly id: string;
  readonly turn: string | null;
  readonly parent: string | null;
  readonly at: number;
  readonly type: string;
  readonly problem: string;
  readonly text: string;
  readonly data: unknown;
  readonly cut?: { readonly [field: string]: number };
}

/** The token was good. */
export interface Welcome {
  readonly type: "welcome";
  readonly protocol: number;
  readonly epoch: string;
  readonly device: string;
  readonly role: string;
  readonly version: string;
  readonly agent: string;
  readonly last_intent: number;
  readonly time: number;
}

/** Which part of a document's items a snapshot or a page holds. */
export interface Window {
  readonly first: number;
  readonly total: number;
}

export type Item =
  | PromptItem
  | TextItem
  | ThinkingItem
  | ToolItem
  | CommandItem
  | NoticeItem
  | UnknownItem;

export type Change =
  | Add
  | SetFields
  | Append
  | Remove
  | Replace;

export type Intent =
  | NewSession
  | Resume
  | Fork
  | Rename
  | Pin
  | Archive
  | Stop
  | Restart
  | Send
  | EditPrompt
  | CancelPrompt
  | ReorderPrompts
  | SendNow
  | KeepDraft
  | Interrupt
  | Decide
  | AnswerQuestions
  | DecidePlan
  | AnswerElicitation
  | AnswerDialog
  | SetModel
  | SetMode
  | SetEffort
  | SetFastMode
  | StopTask
  | McpToggle
  | McpReconnect
  | McpSignIn
  | Refresh
  | TaskOutput
  | RewindFiles
  | RevokeDevice;

export type FromClient =
  | Hello
  | Open
  | Close
  | Ack
  | Look
  | Fetch
  | SendIntent;

export type FromServer =
  | Welcome
  | SnapshotMessage
  | Changes
  | Page
  | IntentResult
  | Problem
  | Pong
  | Bye;
