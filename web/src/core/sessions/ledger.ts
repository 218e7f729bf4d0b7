/** Cost and context of a session, prepared for display. Pure. */
import type { Ledger, Turn } from "../../protocol/transcript.ts";

export interface ContextPart {
  readonly name: string;
  readonly tokens: number;
}

export interface ContextUse {
  readonly used: number;
  readonly window: number;
  /** From 0 to 1. */
  readonly share: number;
  readonly parts: readonly ContextPart[];
}

/** Categories of the CLI's report that are not in use. */
const FREE = /free|available|buffer/i;

/** How full the context is; null if it is unknown. */
export function contextUse(ledger: Ledger): ContextUse | null {
  const context = ledger.context;
  if (context === null) return null;
  const used = number(context["used"]);
  const window = number(context["window"]);
  if (window <= 0) return null;
  const listed = Array.isArray(context["categories"]) ? (context["categories"] as unknown[]) : [];
  const parts = listed.map(part).filter((each) => each.tokens > 0 && !FREE.test(each.name));
  return { used, window, share: Math.min(1, used / window), parts };
}

/** What each turn cost, oldest first. */
export function turnCosts(turns: readonly Turn[]): readonly number[] {
  return turns.filter((turn) => turn.cost_usd !== null).map((turn) => turn.cost_usd ?? 0);
}

function part(value: unknown): ContextPart {
  const fields = (value ?? {}) as Readonly<Record<string, unknown>>;
  return { name: String(fields["name"] ?? ""), tokens: number(fields["tokens"]) };
}

function number(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
