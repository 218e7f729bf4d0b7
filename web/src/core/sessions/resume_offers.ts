/**
 * What the server offers when a session cannot be resumed as it is: to repair it, to fork it, or to
 * start a new session. Pure.
 */
import type { Intent } from "../../protocol/intents.ts";
import type { IntentResult } from "../../protocol/messages.ts";

export type OfferName = "repair" | "fork" | "fresh";

/** A session that was not resumed, why, and what can be done instead. */
export interface ResumeOffer {
  readonly session: string;
  readonly message: string;
  readonly offers: readonly OfferName[];
  /** The folder that the session's own file names, if it differs. */
  readonly foundCwd: string | null;
  /** The message that was to be sent to the session; it is kept as its draft. */
  readonly text: string;
}

const NAMES: readonly OfferName[] = ["repair", "fork", "fresh"];

/** The offers in a refusal; null if it has none. */
export function offerOf(intent: Intent, result: IntentResult): ResumeOffer | null {
  const offers = result.result["offers"];
  if (result.ok || !Array.isArray(offers) || !("session" in intent) || typeof intent.session !== "string") return null;
  const known = NAMES.filter((name) => offers.includes(name));
  if (known.length === 0) return null;
  const found = result.result["found_cwd"];
  return {
    session: intent.session,
    message: result.message ?? "This session can't be resumed.",
    offers: known,
    foundCwd: typeof found === "string" ? found : null,
    text: intent.kind === "send" ? intent.text : "",
  };
}
