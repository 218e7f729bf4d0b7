// Generated from src/fairlead/server/protocol/usage_rows.py by `python -m fairlead.server.protocol.typescript`. Do not edit.

/** What was spent between the requested timestamps. */
export interface UsageReport {
  readonly first: number | null;
  readonly turns: readonly number[];
  readonly rows: readonly UsageRow[];
  readonly file_sessions: number;
}

/** What was spent in one period on one model in one project and profile. */
export interface UsageRow {
  readonly bucket: number;
  readonly project: string;
  readonly profile: string;
  readonly model: string;
  readonly source: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cost_usd: number;
}
