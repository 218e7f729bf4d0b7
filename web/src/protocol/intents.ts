// Generated from src/fairlead/server/protocol/intents.py, src/fairlead/server/protocol/workbench_intents.py, src/fairlead/server/protocol/terminal_intents.py by `python -m fairlead.server.protocol.typescript`. Do not edit.

/** Make a branch and check it out in a new folder, for a session that then starts there. */
export interface AddWorktree {
  readonly kind: "add_worktree";
  readonly cwd: string;
  readonly name?: string;
  readonly base?: string;
}

/** Answer a dialog of the CLI with one of its options; None closes it. */
export interface AnswerDialog {
  readonly kind: "answer_dialog";
  readonly session: string;
  readonly request_id: string;
  readonly input_sha256: string;
  readonly answer?: string | null;
  readonly hold?: boolean;
}

/** Fill in a form of an MCP server (its texts: operator), decline it, or close it. */
export interface AnswerElicitation {
  readonly kind: "answer_elicitation";
  readonly session: string;
  readonly request_id: string;
  readonly input_sha256: string;
  readonly action: string;
  readonly content?: { readonly [key: string]: unknown } | null;
  readonly hold?: boolean;
}

/** Answer the model's questions; None declines. Free text and notes require an operator. */
export interface AnswerQuestions {
  readonly kind: "answer_questions";
  readonly session: string;
  readonly request_id: string;
  readonly input_sha256: string;
  readonly answers: { readonly [key: string]: string | readonly string[] } | null;
  readonly notes?: { readonly [key: string]: string };
  readonly hold?: boolean;
}

/** Archive a session, or unarchive it. */
export interface Archive {
  readonly kind: "archive";
  readonly session: string;
  readonly archived: boolean;
}

/** An uploaded file, by the id of the upload. */
export interface Attachment {
  readonly upload: string;
  readonly name?: string;
}

/** Remove a queued prompt. */
export interface CancelPrompt {
  readonly kind: "cancel_prompt";
  readonly session: string;
  readonly uuid: string;
}

/** End the shell of a terminal and what it started, and forget its output. */
export interface CloseTerminal {
  readonly kind: "close_terminal";
  readonly terminal: string;
}

/** A comment as the user saw it. */
export interface CommentVersion {
  readonly id: string;
  readonly version: number;
}

/** Write an answer that the server still holds to the CLI now. */
export interface ConfirmAnswer {
  readonly kind: "confirm_answer";
  readonly session: string;
  readonly request_id: string;
}

/** Continue a session that a usage limit stopped when the limit resets, or cancel that. */
export interface ContinueAtReset {
  readonly kind: "continue_at_reset";
  readonly session: string;
  readonly on: boolean;
}

/** Set whether sessions without a choice of their own continue when a limit resets. */
export interface ContinueAtResetByDefault {
  readonly kind: "continue_at_reset_by_default";
  readonly on: boolean;
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
  readonly hold?: boolean;
}

/** Approve a plan and optionally accept edits, or reject it with a message (operator). */
export interface DecidePlan {
  readonly kind: "decide_plan";
  readonly session: string;
  readonly request_id: string;
  readonly input_sha256: string;
  readonly approve: boolean;
  readonly accept_edits?: boolean;
  readonly message?: string;
  readonly hold?: boolean;
}

/** Delete a review comment. */
export interface DeleteComment {
  readonly kind: "delete_comment";
  readonly session: string;
  readonly id: string;
  readonly version: number;
}

/** Delete sessions; `UndoDelete` restores them within the undo period. */
export interface DeleteSessions {
  readonly kind: "delete_sessions";
  readonly sessions: readonly string[];
  readonly files?: boolean;
}

/** A file whose changes are to be lost, as the user saw them. */
export interface DiscardedFile {
  readonly file: string;
  readonly digest: string;
}

/** Change a queued prompt. */
export interface EditPrompt {
  readonly kind: "edit_prompt";
  readonly session: string;
  readonly uuid: string;
  readonly text: string;
  readonly verbatim?: boolean | null;
}

/** End the work in a worktree. */
export interface FinishWorktree {
  readonly kind: "finish_worktree";
  readonly cwd: string;
  readonly how: string;
  readonly repository?: string;
  readonly message?: string;
  readonly seen?: string;
}

/** Create a session with the history of another, up to a message if one is given. */
export interface Fork {
  readonly kind: "fork";
  readonly session: string;
  readonly at?: string | null;
}

/** Commit what is staged. The repository's hooks run. */
export interface GitCommit {
  readonly kind: "git_commit";
  readonly session: string;
  readonly message: string;
  readonly hooks: string;
  readonly staged: string;
}

/** Discard what is not staged: of files, or one hunk of one file. It cannot be undone. */
export interface GitDiscard {
  readonly kind: "git_discard";
  readonly session: string;
  readonly files: readonly DiscardedFile[];
  readonly hunk?: boolean;
}

/** Stage or unstage files, or one hunk of one file. */
export interface GitStage {
  readonly kind: "git_stage";
  readonly session: string;
  readonly files: readonly string[];
  readonly unstage?: boolean;
  readonly hunk?: string | null;
}

/** Stop the current turn; queued prompts are still sent unless they are canceled too. */
export interface Interrupt {
  readonly kind: "interrupt";
  readonly session: string;
  readonly cancel_queued?: boolean;
}

/** Store a draft of the next prompt. */
export interface KeepDraft {
  readonly kind: "keep_draft";
  readonly session: string;
  readonly text: string;
}

/** Reconnect an MCP server of the session. */
export interface McpReconnect {
  readonly kind: "mcp_reconnect";
  readonly session: string;
  readonly server: string;
}

/** Sign in to an MCP server: returns the address to open in a browser. */
export interface McpSignIn {
  readonly kind: "mcp_sign_in";
  readonly session: string;
  readonly server: string;
  readonly callback?: string | null;
}

/** Enable or disable an MCP server of the session. */
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
  readonly verbatim?: boolean;
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
  readonly add_dirs?: readonly string[];
  readonly plugin_dirs?: readonly string[];
  readonly profile?: string | null;
  readonly worktree_base?: string | null;
}

/** Start a shell in the folder of a session; the result has `terminal`, its id. */
export interface OpenTerminal {
  readonly kind: "open_terminal";
  readonly session: string;
  readonly cols?: number;
  readonly rows?: number;
}

/** Pin a session to the top of the list, or unpin it. */
export interface Pin {
  readonly kind: "pin";
  readonly session: string;
  readonly pinned: boolean;
}

/** List what the project's own files would run, with the stored answer; changes nothing. */
export interface ProjectPrograms {
  readonly kind: "project_programs";
  readonly cwd: string;
  readonly profile?: string | null;
}

/** Store a new review comment, or change the text of a comment that was not sent yet. */
export interface PutComment {
  readonly kind: "put_comment";
  readonly session: string;
  readonly id: string;
  readonly text: string;
  readonly version?: number;
  readonly file?: string;
  readonly tree?: string;
  readonly side?: string;
  readonly start?: number;
  readonly end?: number;
  readonly code?: string;
}

/** Query the CLI's context usage and the state of its MCP servers again. */
export interface Refresh {
  readonly kind: "refresh";
  readonly session: string;
}

/** Set the title of a session. */
export interface Rename {
  readonly kind: "rename";
  readonly session: string;
  readonly title: string;
}

/** Change the order of the queued prompts. */
export interface ReorderPrompts {
  readonly kind: "reorder_prompts";
  readonly session: string;
  readonly uuids: readonly string[];
}

/** Mark a review comment as resolved, or as open again. */
export interface ResolveComment {
  readonly kind: "resolve_comment";
  readonly session: string;
  readonly id: string;
  readonly resolved: boolean;
}

/** End the process of a session and resume it at once. */
export interface Restart {
  readonly kind: "restart";
  readonly session: string;
}

/** Resume a session of the server, or one that the CLI created elsewhere. */
export interface Resume {
  readonly kind: "resume";
  readonly session: string;
  readonly cwd?: string | null;
  readonly mode?: string | null;
  readonly repair?: boolean;
}

/** Revoke a device's token and disconnect the device at once. */
export interface RevokeDevice {
  readonly kind: "revoke_device";
  readonly device: string;
}

/** Restore files to their state before a prompt. */
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
  readonly verbatim?: boolean;
}

/** Send a queued prompt into the current turn. */
export interface SendNow {
  readonly kind: "send_now";
  readonly session: string;
  readonly uuid: string;
}

/** Queue one prompt that contains these comments, each with its path, lines and code. */
export interface SendReview {
  readonly kind: "send_review";
  readonly session: string;
  readonly uuid: string;
  readonly comments: readonly CommentVersion[];
  readonly text?: string;
}

/** Change the effort; an empty text means the default of the model. */
export interface SetEffort {
  readonly kind: "set_effort";
  readonly session: string;
  readonly effort: string;
}

/** Turn the model's fast mode on or off, if the CLI has one. */
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

/** Switch to another model that the session offers. */
export interface SetModel {
  readonly kind: "set_model";
  readonly session: string;
  readonly model: string;
}

/** Set the tags of a session, in place of those that it has. */
export interface SetTags {
  readonly kind: "set_tags";
  readonly session: string;
  readonly tags: readonly string[];
}

/** Set the command that prepares a new worktree of this repository, and the files to copy. */
export interface SetWorktreeSetup {
  readonly kind: "set_worktree_setup";
  readonly cwd: string;
  readonly setup?: string;
  readonly copy?: readonly string[];
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

/** Get the end of a background task's output so far. */
export interface TaskOutput {
  readonly kind: "task_output";
  readonly session: string;
  readonly task: string;
}

/** Answer a refusal with the check `trust`: decide what the project's own files may run. */
export interface TrustProject {
  readonly kind: "trust_project";
  readonly cwd: string;
  readonly digest: string;
  readonly choice: string;
}

/** Take back an answer that the server still holds: the request is open again. */
export interface UndoAnswer {
  readonly kind: "undo_answer";
  readonly session: string;
  readonly request_id: string;
}

/** Restore sessions that are to be deleted; the result lists them under `restored`. */
export interface UndoDelete {
  readonly kind: "undo_delete";
  readonly sessions: readonly string[];
}

/** What removing a worktree and its branch would lose; changes nothing. */
export interface WorktreeLosses {
  readonly kind: "worktree_losses";
  readonly cwd: string;
  readonly repository?: string;
}

/** List the worktrees of a folder's repository, with its setup command; changes nothing. */
export interface Worktrees {
  readonly kind: "worktrees";
  readonly cwd: string;
}

export type Intent =
  | NewSession
  | AddWorktree
  | Worktrees
  | SetWorktreeSetup
  | WorktreeLosses
  | FinishWorktree
  | Resume
  | Fork
  | Rename
  | Pin
  | Archive
  | SetTags
  | DeleteSessions
  | UndoDelete
  | Stop
  | Restart
  | ProjectPrograms
  | TrustProject
  | Send
  | EditPrompt
  | CancelPrompt
  | ReorderPrompts
  | SendNow
  | KeepDraft
  | PutComment
  | DeleteComment
  | ResolveComment
  | SendReview
  | GitStage
  | GitDiscard
  | GitCommit
  | Interrupt
  | Decide
  | AnswerQuestions
  | DecidePlan
  | UndoAnswer
  | ConfirmAnswer
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
  | ContinueAtReset
  | ContinueAtResetByDefault
  | OpenTerminal
  | CloseTerminal
  | RevokeDevice;
