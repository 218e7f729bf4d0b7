/** The result of a command, from the forms in which the CLI reports it (CLI-1005). Pure. */
import type { ToolItem } from "../../../protocol/transcript.ts";
import { fieldsOf, numberOf, textOf } from "../../../core/plain.ts";

export interface BashOutput {
  readonly text: string;
  /** Separate error output; newer CLIs mix it into the output. */
  readonly errors: string;
  /** Null while it runs, and if the CLI does not report it. */
  readonly exitCode: number | null;
  readonly interrupted: boolean;
  readonly timedOut: boolean;
  /** The path of the full output, if it was too long. */
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

/** The CLI's text for a command without output. */
function plain(text: string): string {
  return /^\(Bash completed with no output\)\s*$/.test(text) ? "" : text;
}
