/** The fast mode of a session: whether it can be switched, and why not. Pure. */
import type { Session } from "../../protocol/transcript.ts";
import { slashCommands } from "../matching.ts";

export interface FastMode {
  readonly on: boolean;
  /** Whether it can be turned on now; it can always be turned off. */
  readonly usable: boolean;
  readonly about: string;
}

/** Off only because it was not requested; the switch requests it. */
const OPT_IN_REQUIRED = "sdk_opt_in_required";

const REASONS: Readonly<Record<string, string>> = {
  disabled_by_env: "Disabled by the server's environment.",
};

interface Model {
  readonly value?: string;
  readonly resolvedModel?: string;
  readonly supportsFastMode?: boolean;
}

/** Null if the CLI has no fast mode; the CLI reports one by its slash command. */
export function fastMode(session: Session): FastMode | null {
  if (!session.fast_mode || !slashCommands(session.commands).some((command) => command.name === "fast")) return null;
  const on = session.fast_mode !== "off";
  const reason = session.fast_mode_reason;
  if (session.fast_mode === "cooldown") return { on, usable: true, about: "On, but paused by a usage limit; it continues automatically." };
  if (reason && reason !== OPT_IN_REQUIRED) {
    return { on, usable: on, about: REASONS[reason] ?? `Unavailable: ${reason.replaceAll("_", " ")}.` };
  }
  const models = session.models as readonly Model[];
  const model = models.find((each) => each?.value === session.model || each?.resolvedModel === session.model);
  if (model && model.supportsFastMode !== true) {
    return { on, usable: on, about: "Not available for this model." };
  }
  return { on, usable: true, about: "Same model, faster responses at a higher price. Applies from the next response." };
}
