/** Hooks of the user that the CLI ran: which call they belong to, and how they ended. Pure. */
import type { Item, NoticeItem } from "../../protocol/transcript.ts";
import { counted } from "../plain.ts";

export function isHook(item: Item): item is NoticeItem {
  return item.kind === "notice" && item.notice === "hook";
}

/** The tool item that a hook belongs to, if the CLI let us know. */
export function callOf(hook: NoticeItem): string | null {
  const call = hook.data["tool"];
  return typeof call === "string" ? call : null;
}

export function isRunning(hook: NoticeItem): boolean {
  return (hook.data["outcome"] ?? null) === null;
}

/** Whether a hook did what it should, so that the user need not look at it. */
export function isQuiet(hook: NoticeItem): boolean {
  return isRunning(hook) || hook.data["outcome"] === "success";
}

/** A hook in words: `PostToolUse:Bash failed with exit code 1`. */
export function hookWords(hook: NoticeItem): string {
  const name = String(hook.data["name"] || hook.data["event"] || "Hook");
  if (isRunning(hook)) return `${name} is running`;
  const code = hook.data["exit_code"];
  if (hook.data["outcome"] === "success") return name;
  if (hook.data["outcome"] === "cancelled") return `${name} was cancelled`;
  return code === 2 ? `${name} blocked (exit code 2)` : `${name} failed${typeof code === "number" ? ` with exit code ${code}` : ""}`;
}

/** Several hooks in one line: `3 hooks ran`. */
export function hooksWords(hooks: readonly NoticeItem[]): string {
  const [first] = hooks;
  if (first && hooks.length === 1) return `Hook ${hookWords(first)}`;
  return `${counted(hooks.length, "hook")} ${hooks.some(isRunning) ? "running" : "ran"}`;
}

/** What a hook wrote. */
export function hookOutput(hook: NoticeItem): string {
  const output = hook.data["output"];
  return typeof output === "string" ? output.trim() : "";
}
