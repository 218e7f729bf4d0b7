// Generated from src/fairlead/server/intents.py by `python -m fairlead.server.typescript`. Do not edit.

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

/** Take a prompt back that still waits. */
export interface CancelPrompt {
  readonly kind: "cancel_prompt";
  readonly session: string;
  readonly uuid: string;
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

/** A new session with the history of another, up to a message if one is named. */
export interface Fork {
  readonly kind: "fork";
  readonly session: string;
  readonly at?: string | null;
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

/** Keep a session at the top of the list, or no longer. */
export interface Pin {
  readonly kind: "pin";
  readonly session: string;
  readonly pinned: boolean;
}

/** Ask the CLI anew how full its context is and how its MCP servers are. */
export interface Refresh {
  readonly kind: "refresh";
  readonly session: string;
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

/** Send a waiting prompt into the running turn. */
export interface SendNow {
  readonly kind: "send_now";
  readonly session: string;
  readonly uuid: string;
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

/** The end of what a background task has printed so far. */
export interface TaskOutput {
  readonly kind: "task_output";
  readonly session: string;
  readonly task: string;
}

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
