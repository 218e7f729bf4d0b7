// Generated from src/fairlead/server/protocol/pending_row.py by `python -m fairlead.server.protocol.typescript`. Do not edit.

export const REQUESTS_LISTED = 100;

/** One of the "always" choices of a request; an answer names it by its `index`. */
export interface Choice {
  readonly index: number;
  readonly kind: string;
  readonly subject: string;
  readonly label: string;
  readonly scope: string;
  readonly role: string;
  readonly lets_through: string;
  readonly examples: readonly string[];
  readonly may_ask: string;
  readonly wide: boolean;
  readonly deniable: boolean;
}

/** A pending request as the server sends it, with what an answer needs. */
export interface PendingRow {
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
  readonly input_sha256: string;
  readonly choices: readonly Choice[];
  readonly choices_note: string;
}
