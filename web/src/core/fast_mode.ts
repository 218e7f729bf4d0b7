/** The fast mode of a session: whether it is there to be switched, and if not, why. Pure. */
import type { Session } from "../protocol/transcript.ts";
import { slashCommands } from "./matching.ts";

export interface FastMode {
  readonly on: boolean;
  /** Whether it can be switched on now; switching it off can always be asked for. */
  readonly usable: boolean;
  readonly about: string;
}

/** Off only because nobody asked for it: the switch does that. */
const NOT_ASKED_FOR = "sdk_opt_in_required";

const REASONS: Readonly<Record<string, string>> = {
  disabled_by_env: "The environment of the server's CLI switches it off.",
};

interface Model {
  readonly value?: string;
  readonly resolvedModel?: string;
  readonly supportsFastMode?: boolean;
}

/** Null where the CLI has none: it tells of one by the command that belongs to it. */
export function fastMode(session: Session): FastMode | null {
  if (!session.fast_mode || !slashCommands(session.commands).some((one) => one.name === "fast")) return null;
  const on = session.fast_mode !== "off";
  const reason = session.fast_mode_reason;
  if (session.fast_mode === "cooldown") return { on, usable: true, about: "On, but paused by a limit; the CLI takes it up again by itself." };
  if (reason && reason !== NOT_ASKED_FOR) {
    return { on, usable: on, about: REASONS[reason] ?? `The CLI keeps it off: ${reason.replaceAll("_", " ")}.` };
  }
  const models = session.models as readonly Model[];
  const model = models.find((one) => one?.value === session.model || one?.resolvedModel === session.model);
  if (model && model.supportsFastMode !== true) {
    return { on, usable: on, about: "This model has none; choose another one first." };
  }
  return { on, usable: true, about: "The same model, sooner and at a higher price; from the next answer on." };
}
