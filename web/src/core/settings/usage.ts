/** Usage prepared for display: calendar periods, sums, scales. Pure. */
import type { UsageReport, UsageRow } from "../../protocol/usage.ts";

export type Step = "day" | "week" | "month";
export type Measure = "cost" | "tokens";
export type Grouping = "project" | "model" | "profile";

/** A sum by name, the largest first. */
export interface Sum {
  readonly name: string;
  readonly cost: number;
  readonly tokens: number;
  /** Of the measure, from 0 to 1. */
  readonly share: number;
}

/** One period: its label, what was spent in it, and on what. */
export interface Period {
  readonly from: number;
  readonly label: string;
  readonly long: string;
  readonly value: number;
  readonly turns: number;
  readonly parts: readonly { readonly name: string; readonly value: number }[];
}

/** The number of periods that are shown for each step. */
export const SHOWN: Readonly<Record<Step, number>> = { day: 30, week: 26, month: 12 };

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;
const NAMED = 5;

/** The timestamps between which the server sums: local midnights, `count` steps back from now. */
export function bounds(now: number, step: Step, count = SHOWN[step]): readonly number[] {
  const today = new Date(now * 1000);
  const first = new Date(today.getFullYear(), today.getMonth(), today.getDate());
  if (step === "week") first.setDate(first.getDate() - ((first.getDay() + 6) % 7));
  if (step === "month") first.setDate(1);
  const timestamps: number[] = [];
  for (let back = count - 1; back >= -1; back -= 1) {
    const at = new Date(first);
    if (step === "month") at.setMonth(at.getMonth() - back);
    else at.setDate(at.getDate() - back * (step === "week" ? 7 : 1));
    timestamps.push(at.getTime() / 1000);
  }
  return timestamps;
}

export function tokensOf(row: UsageRow): number {
  return row.input_tokens + row.output_tokens + row.cache_read_input_tokens + row.cache_creation_input_tokens;
}

export function valueOf(row: UsageRow, measure: Measure): number {
  return measure === "cost" ? row.cost_usd : tokensOf(row);
}

/** The sums of a report by project, model or profile. */
export function sums(rows: readonly UsageRow[], by: Grouping, measure: Measure): readonly Sum[] {
  const byName = new Map<string, { cost: number; tokens: number }>();
  for (const row of rows) {
    const sum = byName.get(row[by]) ?? { cost: 0, tokens: 0 };
    byName.set(row[by], { cost: sum.cost + row.cost_usd, tokens: sum.tokens + tokensOf(row) });
  }
  const total = [...byName.values()].reduce((all, sum) => all + sum[measure], 0);
  return [...byName]
    .map(([name, sum]) => ({ name, ...sum, share: total > 0 ? sum[measure] / total : 0 }))
    .sort((a, b) => b[measure] - a[measure] || a.name.localeCompare(b.name));
}

/** The sum of the rows of one source: `log` is this server's, `files` are the CLI's own. */
export function spentBy(rows: readonly UsageRow[], source: "log" | "files"): { readonly cost: number; readonly tokens: number } {
  const own = rows.filter((row) => row.source === source);
  return {
    cost: own.reduce((sum, row) => sum + row.cost_usd, 0),
    tokens: own.reduce((sum, row) => sum + tokensOf(row), 0),
  };
}

/** The names that get their own color; all others share one. */
export function leaders(all: readonly Sum[]): readonly string[] {
  return all.slice(0, all.length > NAMED + 1 ? NAMED : NAMED + 1).map((sum) => sum.name);
}

/** Each period of a report. `others` is the name for everything that is not among the leaders. */
export function periods(
  report: UsageReport,
  edges: readonly number[],
  { step, by, measure, named, others }: { step: Step; by: Grouping; measure: Measure; named: readonly string[]; others: string },
): readonly Period[] {
  const parts = edges.slice(0, -1).map(() => new Map<string, number>());
  for (const row of report.rows) {
    const own = parts[row.bucket];
    if (!own) continue;
    const name = named.includes(row[by]) ? row[by] : others;
    own.set(name, (own.get(name) ?? 0) + valueOf(row, measure));
  }
  const order = [...named, others];
  return parts.map((own, at) => {
    const from = edges[at] ?? 0;
    const listed = order.filter((name) => own.has(name)).map((name) => ({ name, value: own.get(name) ?? 0 }));
    const value = listed.reduce((sum, part) => sum + part.value, 0);
    return { from, ...labels(from, step), value, turns: report.turns[at] ?? 0, parts: listed };
  });
}

/** A round number not below a value, and the ticks up to it, for an axis. */
export function scale(highest: number): { readonly top: number; readonly ticks: readonly number[] } {
  if (!(highest > 0)) return { top: 1, ticks: [0] };
  const power = 10 ** Math.floor(Math.log10(highest / 4));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power * 4 >= highest) ?? 10) * power;
  const count = Math.ceil(highest / step - 1e-9);
  return { top: step * count, ticks: Array.from({ length: count + 1 }, (_, at) => step * at) };
}

function labels(from: number, step: Step): { label: string; long: string } {
  const date = new Date(from * 1000);
  const month = MONTHS[date.getMonth()] ?? "";
  const day = `${date.getDate()} ${month}`;
  if (step === "month") return { label: month, long: `${month} ${date.getFullYear()}` };
  return { label: day, long: step === "week" ? `Week from ${day} ${date.getFullYear()}` : `${day} ${date.getFullYear()}` };
}
