/** What a command left behind, from the shapes the CLI has for it (CLI-1005). Pure. */
import type { ToolItem } from "../../../protocol/transcript.ts";
import { fieldsOf, numberOf, textOf } from "../../../core/plain.ts";

export interface BashOutput {
  readonly text: string;
  /** Separate error output; newer CLIs mix it into the output. */
  readonly errors: string;
  /** Null as long as it runs, and where the CLI does not say. */
  readonly exitCode: number | null;
  readonly interrupted: boolean;
  readonly timedOut: boolean;
  /** Where the whole output is, if it was too long. */
  readonly savedAt: string;
  readonly savedSize: number | null;
}

const EXIT = /^(?:Error: )?Exit code (-?\d+)\n?/;

export function bashOutput(item: ToolItem): BashOutput {
  const done = fieldsOf(item.structured);
  const result = item.result ?? "";
  const exit = EXIT.exec(result);
  const whole = "stdout" in done ? textOf(done, "stdout") : plain(result.replace(EXIT, ""));
  const finished = item.state === "done" && item.background === null;
  return {
    text: whole,
    errors: textOf(done, "stderr"),
    exitCode: exit ? Number(exit[1]) : finished ? 0 : null,
    interrupted: done["interrupted"] === true || item.state === "interrupted",
    timedOut: /Command timed out after/.test(result),
    savedAt: textOf(done, "persistedOutputPath") || (/Full output saved to: (\S+)/.exec(result)?.[1] ?? ""),
    savedSize: numberOf(done, "persistedOutputSize"),
  };
}

/** What the CLI says where there was nothing to say. */
function plain(text: string): string {
  return /^\(Bash completed with no output\)\s*$/.test(text) ? "" : text;
}
