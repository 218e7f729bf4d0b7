// Generated from src/fairlead/server/pending_row.py by `python -m fairlead.server.typescript`. Do not edit.

/** A thing that "always" may mean for a request; its `index` goes into the answer. */
export interface Choice {
  readonly index: number;
  readonly label: string;
  readonly scope: string;
  readonly role: string;
  readonly lets_through: string;
  readonly examples: readonly string[];
  readonly wide: boolean;
  readonly deniable: boolean;
}

/** A pending request as the server sends it: with what an answer needs. */
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
  readonly input_sha256: string;
  readonly choices: readonly Choice[];
}
