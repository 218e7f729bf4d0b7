/** What happened beside the conversation, in words. Pure. */
import { duration, tokens } from "../../core/time.ts";
import type { Item, NoticeItem } from "../../protocol/transcript.ts";
import type { IconName } from "../parts/icons.ts";

export interface NoticeWords {
  readonly icon: IconName;
  readonly title: string;
  /** A line through the conversation, for what parts before from after. */
  readonly divides: boolean;
  /** What the person has to do, if only they can. */
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
  api_error: (_data, item) => ({ ...words("warning", item.text || "The model could not be reached"), ...(isLoginFailure(item) ? { advice: loginAdvice(item.text) } : {}) }),
  fallback: (data) => words("info", fallback(data)),
  hook: (data) => words("plug", hook(data)),
  injected: () => words("info", "The agent added this by itself"),
  rate_limit: () => words("clock", "Usage limit"),
  process_ended: () => words("warning", "The agent's process ended", true),
};

const LOG_IN =
  "The agent is not logged in on the computer that runs this server, or its login is no longer accepted. " +
  "Open a terminal there, start claude, type /login and follow it; then send your message again. Nothing else helps until then.";

const ANOTHER_KEY =
  "The model's service does not accept the API key that the agent uses: ANTHROPIC_API_KEY, or what apiKeyHelper in its settings gives. " +
  "Put a valid key there on the computer that runs this server and start the server anew, or take the key away and log in with /login; then send your message again.";

const LOGIN_OR_KEY =
  "The model's service did not accept the login or the API key of the agent. On the computer that runs this server, " +
  "put a valid key into ANTHROPIC_API_KEY if it uses one, else open a terminal, start claude and type /login; then send your message again.";

/** What helps depends on how the agent says who it is, which only the CLI's own words tell. */
function loginAdvice(said: string): string {
  if (/invalid api key/i.test(said)) return ANOTHER_KEY;
  return /\/login/.test(said) ? LOG_IN : LOGIN_OR_KEY;
}

/** Whether the model's service did not accept who the CLI says it is: sending again does not help. */
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
  const tries = `try ${attempt}${most === null ? "" : ` of ${most}`}`;
  const why = [data["status"], data["error"]].filter(Boolean).join(" ").replaceAll("_", " ");
  if (data["over"]) return `The model was not reached at once (${why || "no reason"}, ${tries})`;
  const until = number(data, "until");
  const wait = until === null || until <= now ? "" : `, next in ${duration(until - now)}`;
  return `Trying again: ${tries}${wait}${why ? ` (${why})` : ""}`;
}

function fallback(data: Data): string {
  if (data["to"]) return `${String(data["to"])} answers instead of ${String(data["from"] ?? "the model")}`;
  return `${String(data["from"] ?? "The model")} did not answer${data["trigger"] ? ` (${String(data["trigger"])})` : ""}`;
}

function hook(data: Data): string {
  const name = String(data["name"] ?? data["event"] ?? "Hook");
  const outcome = data["outcome"];
  if (outcome === undefined || outcome === null) return `Hook ${name} runs`;
  return outcome === "success" ? `Hook ${name}` : `Hook ${name}: ${String(outcome)}`;
}

function number(data: Data, ...names: readonly string[]): number | null {
  for (const name of names) if (typeof data[name] === "number") return data[name] as number;
  return null;
}
