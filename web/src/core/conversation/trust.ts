/** The question whether a project's own files may run programs, from a refusal of the server. Pure. */
import type { IntentResult } from "../../protocol/messages.ts";

export type TrustChoice = "trust" | "without";

export interface TrustCommand {
  readonly file: string;
  readonly what: string;
  readonly command: string;
}

export interface TrustQuestion {
  readonly folder: string;
  readonly digest: string;
  readonly commands: readonly TrustCommand[];
  /** Null before a start; otherwise the stored answer, "none" if there is none. */
  readonly remembered: TrustChoice | "none" | null;
}

/** The question in a refusal, or null if the refusal is about something else. */
export function trustQuestion(result: IntentResult): TrustQuestion | null {
  if (result.ok || result.result["check"] !== "trust") return null;
  return questionOf(result, null);
}

/** The result of `project_programs`, or null if the files of the project run nothing. */
export function rememberedQuestion(result: IntentResult): TrustQuestion | null {
  const { answer } = result.result;
  return result.ok ? questionOf(result, answer === "trust" || answer === "without" ? answer : "none") : null;
}

function questionOf(result: IntentResult, remembered: TrustQuestion["remembered"]): TrustQuestion | null {
  const { folder, digest, commands } = result.result;
  if (typeof folder !== "string" || typeof digest !== "string" || !Array.isArray(commands)) return null;
  return { folder, digest, commands: commands.map(commandOf), remembered };
}

function commandOf(value: unknown): TrustCommand {
  const { file, what, command } = (value ?? {}) as Record<string, unknown>;
  return { file: String(file), what: String(what), command: String(command) };
}
