/** Schedules as the server has them, and how they are written for a user. Pure. */

export interface Schedule {
  readonly id: string;
  readonly name: string;
  readonly prompt: string;
  /** Five fields; empty for a single time. */
  readonly cron: string;
  readonly at: number | null;
  readonly zone: string;
  readonly cwd: string;
  readonly session: string;
  readonly missed: string;
  readonly budget_usd: number | null;
  /** The profile of new sessions; empty for the default one. */
  readonly profile: string;
  readonly enabled: boolean;
}

export interface Run {
  readonly due: number;
  /** planned, sent, done, or failed. */
  readonly state: string;
  readonly session: string;
  readonly outcome: string;
  readonly cost_usd: number | null;
}

/** One row of `GET /api/schedules`. */
export interface ScheduleState {
  readonly schedule: Schedule;
  readonly next_at: number | null;
  readonly last: Run | null;
}

export const PRESETS: readonly { readonly value: string; readonly label: string }[] = [
  { value: "0 7 * * 1-5", label: "Every weekday at 07:00" },
  { value: "0 7 * * *", label: "Every day at 07:00" },
  { value: "0 * * * *", label: "Every hour" },
  { value: "0 7 * * 1", label: "Every Monday at 07:00" },
  { value: "custom", label: "Cron expression…" },
  { value: "once", label: "Once, at a time…" },
];

const ENDS: Readonly<Record<string, string>> = {
  success: "Finished",
  interrupted: "Interrupted",
  budget: "Budget used up",
  max_turns: "Step limit reached",
  host_stopped: "The server stopped",
  process_ended: "Claude Code exited",
};

/** How the last run went, in words. */
export function lastOf(run: Run | null): string {
  if (run === null) return "Has not run yet.";
  if (run.state === "failed") return `Not started: ${run.outcome}`;
  return run.state === "done" ? (ENDS[run.outcome] ?? "Failed") : "Running";
}

/** The time of a schedule, in words. */
export function whenOf(schedule: Schedule): string {
  if (!schedule.cron) return "Once";
  return PRESETS.find((preset) => preset.value === schedule.cron)?.label ?? `Cron ${schedule.cron}`;
}
