// Generated from src/fairlead/transcript/state/model.py, src/fairlead/transcript/snapshot.py by `python -m fairlead.server.protocol.typescript`. Do not edit.

export const SCHEMA = 1;

/** A subagent or a long command; its id is the task id. */
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
  readonly exit_code: number | null;
  readonly turn: string | null;
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

/** A file that a tool changed; its id is the path. */
export interface File {
  readonly id: string;
  readonly added: number;
  readonly removed: number;
  readonly edits: number;
  readonly created: boolean;
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
  readonly duration_ms: number;
}

/** Something that happened outside the conversation. */
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
  readonly suppress_always_allow_rule: boolean;
  readonly default_to_no: boolean;
  readonly matched_ask_rule: { readonly [key: string]: unknown } | null;
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
  readonly stopped_by: string | null;
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

/** A tool call, from the first character of its input to its result. */
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
  readonly waited_ms: number;
  readonly api_ms: number | null;
  readonly ttft_ms: number | null;
  readonly steps: number | null;
  readonly denials: readonly unknown[];
  readonly stop_reason: string | null;
  readonly terminal_reason: string | null;
  readonly api_error_status: number | null;
  readonly cut?: { readonly [field: string]: number };
}

/** A line or a block of an unknown kind, unchanged. */
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

export type Item =
  | PromptItem
  | TextItem
  | ThinkingItem
  | ToolItem
  | CommandItem
  | NoticeItem
  | UnknownItem;
