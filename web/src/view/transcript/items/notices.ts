/** Notices of the conversation, in words. Pure. */
import { hooksWords } from "../../../core/conversation/hooks.ts";
import { limitName, resetTime } from "../../../core/settings/limits.ts";
import { duration, tokens } from "../../../core/time.ts";
import type { Item, NoticeItem } from "../../../protocol/transcript.ts";
import type { IconName } from "../../parts/icons.ts";

export interface NoticeWords {
  readonly icon: IconName;
  readonly title: string;
  /** Whether it is drawn as a divider of the conversation. */
  readonly divides: boolean;
  /** What the user has to do, if nothing else helps. */
  readonly advice?: string;
}

type Data = Readonly<Record<string, unknown>>;
type Say = (data: Data, item: NoticeItem, now: number) => NoticeWords;

const words = (icon: IconName, title: string, divides = false): NoticeWords => ({ icon, title, divides });

const SAYINGS: Readonly<Record<string, Say>> = {
  compaction: (data) => words("archive", compaction(data), true),
  reset: () => words("undo", "Conversation cleared", true),
  resumed: () => words("restart", "Resumed", true),
  interrupted: () => words("stop", "Stopped by you"),
  retry: (data, _item, now) => words("retry", retry(data, now)),
  api_error: (_data, item) => ({ ...words("warning", item.text || "Couldn't reach the model"), ...(isLoginFailure(item) ? { advice: loginAdvice(item.text) } : {}) }),
  fallback: (data) => words("info", fallback(data)),
  hook: (_data, item) => words("plug", hooksWords([item])),
  injected: () => words("info", "Added automatically by Claude Code"),
  rate_limit: (data, _item, now) => words("clock", rateLimit(data, now)),
  process_ended: () => words("warning", "Claude Code exited", true),
};

const LOG_IN =
  "The agent is not signed in on the computer that runs this server, or its login has expired. " +
  "Open a terminal there, start claude, run /login and follow the steps; then send your message again.";

const ANOTHER_KEY =
  "The API rejected the key that the agent uses (ANTHROPIC_API_KEY, or the output of apiKeyHelper in its settings). " +
  "Set a valid key on the computer that runs this server, then restart the server, or remove the key and sign in with /login; then send your message again.";

const LOGIN_OR_KEY =
  "The API rejected the agent's login or API key. On the computer that runs this server, " +
  "set a valid ANTHROPIC_API_KEY if the agent uses a key; otherwise open a terminal, start claude and run /login. Then send your message again.";

/** The advice depends on how the agent authenticates, which only the CLI's own message shows. */
function loginAdvice(message: string): string {
  if (/invalid api key/i.test(message)) return ANOTHER_KEY;
  return /\/login/.test(message) ? LOG_IN : LOGIN_OR_KEY;
}

/** Whether the API rejected the CLI's credentials: sending the message again does not help. */
export function isLoginFailure(item: Item | undefined): boolean {
  return item?.kind === "notice" && item.notice === "api_error" && item.data["error"] === "authentication_failed";
}

/** A notice as it is shown. */
export function noticeWords(item: NoticeItem, now: number): NoticeWords {
  const say = SAYINGS[item.notice];
  if (say) return say(item.data, item, now);
  const icon = item.level === "error" || item.level === "warning" ? "warning" : "info";
  return words(icon, item.text || item.notice.replaceAll("_", " "));
}

function compaction(data: Data): string {
  if (data["failed"] || data["error"]) return "Compacting the context failed";
  const [before, after] = [number(data, "before", "pre_tokens"), number(data, "after", "post_tokens")];
  if (before === null) return "Context compacted";
  const to = after === null ? "" : ` to ${tokens(after)}`;
  return `Context compacted: ${tokens(before)}${to} tokens`;
}

function retry(data: Data, now: number): string {
  const attempt = number(data, "attempt") ?? 1;
  const most = number(data, "max_retries");
  const why = [data["status"], data["error"]].filter(Boolean).join(" ").replaceAll("_", " ");
  if (data["over"]) return `Recovered after ${attempt} ${attempt === 1 ? "retry" : "retries"}${why ? ` (${why})` : ""}`;
  const until = number(data, "until");
  const wait = until === null || until <= now ? "" : ` in ${duration(until - now)}`;
  return `Retrying${wait}, attempt ${attempt}${most === null ? "" : ` of ${most}`}${why ? ` (${why})` : ""}`;
}

/** Which usage limit, how much of it is used, and when it resets, as far as the CLI says so. */
function rateLimit(data: Data, now: number): string {
  const type = typeof data["rateLimitType"] === "string" ? data["rateLimitType"] : "";
  const name = limitName(type);
  const used = number(data, "utilization");
  const state = data["status"] === "rejected" ? " reached" : used === null ? ": nearly reached" : `: ${Math.round(used * 100)}% used`;
  const resets = number(data, "resetsAt");
  return `${name}${state}${resets === null ? "" : `, resets ${resetTime(resets, now)}`}`;
}

function fallback(data: Data): string {
  if (data["to"]) return data["from"] ? `Switched from ${String(data["from"])} to ${String(data["to"])}` : `Switched to ${String(data["to"])}`;
  return `${String(data["from"] ?? "The model")} couldn't answer${data["trigger"] ? ` (${String(data["trigger"])})` : ""}`;
}

function number(data: Data, ...names: readonly string[]): number | null {
  for (const name of names) if (typeof data[name] === "number") return data[name] as number;
  return null;
}
