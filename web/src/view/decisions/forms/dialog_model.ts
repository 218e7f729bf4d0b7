/** The dialogs of the CLI that have a form: their text and their answers. Pure. */
import { modelLabel } from "../../../core/sessions/status.ts";
import type { Pending } from "../../../protocol/transcript.ts";
import { fieldsOf, textOf } from "../../../core/plain.ts";

export interface DialogAnswer {
  /** The value for the server; null closes the dialog. */
  readonly value: string | null;
  readonly label: string;
  readonly key: string;
}

export interface DialogForm {
  readonly title: string;
  readonly words: readonly string[];
  readonly answers: readonly DialogAnswer[];
  /** Raw data without a form; null if the text has all of it. */
  readonly raw: unknown;
}

const CLOSE: DialogAnswer = { value: null, label: "Close", key: "D" };

const FORMS: Readonly<Record<string, (payload: unknown) => Omit<DialogForm, "raw">>> = {
  refusal_fallback_prompt: (payload) => {
    const [first, other] = [textOf(payload, "originalModel"), textOf(payload, "fallbackModel")].map(modelLabel);
    const why = textOf(payload, "apiRefusalCategory");
    return {
      title: "Switch to another model?",
      words: [
        `${first} couldn't answer${why ? ` (${why})` : ""}. Switch to ${other}?`,
        textOf(payload, "guidanceText"),
      ].filter(Boolean),
      answers: [
        { value: "retry_fallback", label: `Try ${other}`, key: "A" },
        { value: "edit_prompt", label: "Edit the message", key: "E" },
        { ...CLOSE, label: "Not now" },
      ],
    };
  },
};

/** The form of a dialog; an unknown dialog is shown as raw data and can be closed. */
export function dialogForm(request: Pending): DialogForm {
  const kind = textOf(request.details, "dialog");
  const payload = fieldsOf(request.details)["payload"];
  const form = Object.hasOwn(FORMS, kind) ? FORMS[kind] : undefined;
  if (form) return { ...form(payload), raw: null };
  return {
    title: "Dialog from Claude Code",
    words: ["Fairlead can't display this dialog. If you close it, Claude Code continues without an answer."],
    answers: [CLOSE],
    raw: payload ?? request.details,
  };
}
