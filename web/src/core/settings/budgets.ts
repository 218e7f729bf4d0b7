/** Budgets as the server has them, and which of them concern a session. Pure. */
import type { BudgetAlert } from "../../protocol/lobby.ts";
import { money } from "../time.ts";

/** One row of `GET /api/budgets`. */
export interface BudgetState {
  readonly id: string;
  readonly scope: string;
  readonly key: string;
  readonly limit_usd: number;
  readonly warn_percent: number;
  readonly zone: string;
  readonly spent_usd: number;
  readonly level: string;
}

/** The most urgent alert that covers a session in a folder. */
export function alertFor(alerts: readonly BudgetAlert[], session: string, folder: string): BudgetAlert | null {
  const own = alerts.filter((alert) => alert.scope === "day" || alert.key === (alert.scope === "session" ? session : folder));
  return own.find((alert) => alert.level === "reached") ?? own[0] ?? null;
}

export function wordsOf(alert: BudgetAlert): string {
  const places: Readonly<Record<string, string>> = { session: "for this session", project: "for this project" };
  const what = places[alert.scope] ?? "today";
  const spent = `${money(alert.spent_usd)} of ${money(alert.limit_usd)} spent ${what}.`;
  if (alert.level !== "reached") return `Budget warning: ${spent}`;
  return `Budget reached: ${spent} Messages wait until an owner raises it${alert.scope === "day" ? " or the next day begins" : ""}.`;
}

/** The name of a budget in a list. */
export function nameOf(budget: BudgetState, titleOf: (session: string) => string): string {
  if (budget.scope === "day") return "Each day";
  return budget.scope === "project" ? budget.key : titleOf(budget.key);
}
