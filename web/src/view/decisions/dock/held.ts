/** An answer that the server holds for its undo period, as a pending request carries it. Pure. */
import { fieldsOf, numberOf, textOf } from "../../../core/plain.ts";

export interface Held {
  readonly by: string;
  readonly decision: string;
  /** Whether it is a denial of any kind. */
  readonly denies: boolean;
  /** When it is written to the CLI, by the server's clock. */
  readonly until: number;
}

const WORDS: Readonly<Record<string, string>> = {
  allow: "Allowed",
  allow_edited: "Allowed with changes",
  always: "Always allowed",
  deny: "Denied",
  deny_stop: "Denied and stopping",
  deny_always: "Always denied",
  approved: "Plan approved",
  approved_edits: "Plan approved, edits accepted",
  rejected: "Plan rejected",
  answered: "Answered",
  declined: "Skipped",
  accept: "Submitted",
  decline: "Declined",
  cancel: "Closed",
  closed: "Closed",
};

/** The held answer in the details of a request or in its inbox row; null if there is none. */
export function heldOf(value: unknown): Held | null {
  const held = fieldsOf(value);
  const until = numberOf(held, "until");
  if (until === null) return null;
  return { by: textOf(held, "by"), decision: textOf(held, "decision"), denies: held["denies"] !== false, until };
}

/** What was decided, in words. */
export function heldWords(held: Held): string {
  return WORDS[held.decision] ?? (held.denies ? "Denied" : "Answered");
}

/** The button that ends the undo period. */
export function nowWords(held: Held): string {
  return held.decision.startsWith("deny") ? "Deny now" : "Send now";
}

/** Whole seconds until it is written. */
export function secondsLeft(held: Held, now: number): number {
  return Math.max(0, Math.ceil(held.until - now));
}
