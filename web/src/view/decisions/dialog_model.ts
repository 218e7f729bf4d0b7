/** The dialogs of the CLI's own that have a form: what they say, and the answers they know. Pure. */
import { modelLabel } from "../../core/status.ts";
import type { Pending } from "../../protocol/transcript.ts";
import { fieldsOf, textOf } from "../tools/fields.ts";

export interface DialogAnswer {
  /** As the server takes it; null closes the dialog. */
  readonly value: string | null;
  readonly label: string;
  readonly key: string;
}

export interface DialogForm {
  readonly title: string;
  readonly words: readonly string[];
  readonly answers: readonly DialogAnswer[];
  /** What there is no form for, to be shown as it is; null if all of it is in the words. */
  readonly raw: unknown;
}

const CLOSE: DialogAnswer = { value: null, label: "Close it", key: "Esc" };

const FORMS: Readonly<Record<string, (payload: unknown) => Omit<DialogForm, "raw">>> = {
  refusal_fallback_prompt: (payload) => {
    const [first, other] = [textOf(payload, "originalModel"), textOf(payload, "fallbackModel")].map(modelLabel);
    const why = textOf(payload, "apiRefusalCategory");
    return {
      title: "Go on with another model?",
      words: [
        `${first} did not answer this message${why ? ` (${why})` : ""}. ${other} may; it takes over if you say so.`,
        textOf(payload, "guidanceText"),
      ].filter(Boolean),
      answers: [
        { value: "retry_fallback", label: `Try ${other}`, key: "A" },
        { value: "edit_prompt", label: "Change the message", key: "E" },
        { ...CLOSE, label: "Leave it" },
      ],
    };
  },
};

/** The form of a dialog; one that nobody knows is shown as it is, and can be closed. */
export function dialogForm(request: Pending): DialogForm {
  const kind = textOf(request.details, "dialog");
  const payload = fieldsOf(request.details)["payload"];
  const form = Object.hasOwn(FORMS, kind) ? FORMS[kind] : undefined;
  if (form) return { ...form(payload), raw: null };
  return {
    title: "The agent shows a dialog",
    words: ["Fairlead has no form for this one. It can be closed; the agent then goes on without an answer."],
    answers: [CLOSE],
    raw: payload ?? request.details,
  };
}
