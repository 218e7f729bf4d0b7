/** What the server says about the worktrees of a repository, and the variants of one task. Pure. */
import { fieldsOf } from "../plain.ts";
import type { SessionRow } from "../../protocol/lobby.ts";

export interface WorktreeEntry {
  readonly path: string;
  readonly branch: string | null;
  /** Whether its folder was deleted without git. */
  readonly gone: boolean;
  readonly session: string | null;
  readonly commits: number;
  readonly files: number;
}

export interface WorktreePlan {
  readonly repository: string;
  readonly branch: string | null;
  readonly branches: readonly string[];
  readonly folder: string;
  readonly setup: string;
  readonly copy: readonly string[];
  readonly worktrees: readonly WorktreeEntry[];
}

/** What a worktree has that its base lacks, and would be lost with it. */
export interface Losses {
  readonly path: string;
  readonly branch: string | null;
  readonly base: string | null;
  readonly commits: readonly string[];
  readonly more_commits: number;
  readonly files: readonly string[];
  readonly more_files: number;
  /** What git ignores, such as build output: files, and folders with a slash at the end. */
  readonly ignored: readonly string[];
  readonly more_ignored: number;
  readonly seen: string;
}

/** The plan in an answer; null outside of a repository. */
export function planOf(answer: unknown): WorktreePlan | null {
  const fields = fieldsOf(answer);
  return typeof fields["repository"] === "string" ? (fields as unknown as WorktreePlan) : null;
}

/** One of several attempts at the same task. */
export interface Variant {
  readonly model: string;
  readonly effort: string;
}

export const MOST_VARIANTS = 8;

const TAG = "fan-out ";
const BRACKETS = /^(.*) \(([^()]+)\)$/s;

/** The tag of the sessions that try the same task. */
export function variantsTag(name: string, now: number): string {
  const words = name.split(/\s/).filter(Boolean).join(" ").slice(0, 16).trim();
  return `${TAG}${words || "task"} ${now.toString(36).slice(-4)}`;
}

/** The tags of a session that a person chose: without the one that only holds variants together. */
export function labelsOf(row: SessionRow): readonly string[] {
  return row.tags.filter((tag) => !tag.startsWith(TAG));
}

/** The tag by which a session belongs to several attempts at one task; null if it does not. */
export function variantsTagOf(row: SessionRow): string | null {
  return row.tags.find((tag) => tag.startsWith(TAG)) ?? null;
}

/** What tells a session apart from others that try the same task; null if it is no variant. */
export function variantOf(row: SessionRow): string | null {
  return variantsTagOf(row) === null ? null : (BRACKETS.exec(row.title)?.[2] ?? null);
}

/** The message that several variants have in common; null if their titles differ otherwise. */
export function commonTitle(titles: readonly string[]): string | null {
  const rest = titles.map((title) => BRACKETS.exec(title)?.[1]);
  return rest[0] !== undefined && rest.every((each) => each === rest[0]) ? rest[0] : null;
}

/** Short names for variants: what their titles have in brackets at the end, if the rest is the same. */
export function variantNames(titles: readonly string[]): readonly string[] {
  return commonTitle(titles) === null ? titles : titles.map((title) => BRACKETS.exec(title)?.[2] ?? "");
}
