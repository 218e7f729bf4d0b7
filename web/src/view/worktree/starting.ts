/** Starts a session in a new worktree, or the same task in several of them. */
import type { NewSession } from "../../protocol/intents.ts";
import type { IntentResult } from "../../protocol/messages.ts";
import { variantsTag } from "../../core/workbench/worktrees.ts";
import type { App } from "../app.svelte.ts";
import type { WorktreeWish } from "./WorktreeChoice.svelte";

/** What was started: the sessions, and the tag that they share if there are several. */
export interface Started {
  readonly sessions: readonly string[];
  readonly tag: string | null;
  readonly problem: string;
}

/** Make a worktree for each variant and start its session; stops at the first problem. */
export async function startInWorktrees(app: App, intent: NewSession, wish: WorktreeWish, node = ""): Promise<Started> {
  const name = intent.title || intent.prompt || "session";
  const all = [{ model: intent.model ?? "", effort: intent.effort ?? "" }, ...wish.variants];
  const tag = all.length > 1 ? variantsTag(name, Date.now()) : null;
  const sessions: string[] = [];
  for (const variant of all) {
    const model = variant.model.trim() || intent.model || null;
    const effort = variant.effort || intent.effort || null;
    const label = [model ?? "default model", effort].filter(Boolean).join(" · ");
    const title = tag === null ? intent.title : `${name.slice(0, 60)} (${label})`;
    const result = await startOne(app, { ...intent, model, effort, title: title ?? null }, name, wish.base, node);
    const id = result.result["session"];
    if (!result.ok || typeof id !== "string") return { sessions, tag, problem: result.message ?? "The server refused that." };
    sessions.push(id);
    if (tag !== null) await app.send({ kind: "set_tags", session: id, tags: [tag] });
  }
  return { sessions, tag, problem: "" };
}

async function startOne(app: App, intent: NewSession, name: string, base: string, node: string): Promise<IntentResult> {
  const made = await app.send({ kind: "add_worktree", cwd: intent.cwd, name: name.slice(0, 200), base }, node);
  if (!made.ok) return made;
  return app.send({ ...intent, cwd: String(made.result["cwd"]), worktree_base: String(made.result["base"]), continue_latest: false }, node);
}
