/** The questions of a model and what was answered so far, up to what goes back to the server. Pure. */
import { fieldsOf, listOf, textOf } from "../tools/fields.ts";

export interface Option {
  readonly label: string;
  readonly about: string;
  readonly preview: string;
}

export interface Question {
  readonly text: string;
  readonly header: string;
  readonly several: boolean;
  readonly options: readonly Option[];
}

/** What was answered to one question: labels, words of one's own, and a note beside them. */
export interface Reply {
  readonly chosen: readonly string[];
  readonly other: string;
  /** Whether the words of one's own count. */
  readonly useOther: boolean;
  readonly note: string;
}

export const NO_REPLY: Reply = { chosen: [], other: "", useOther: false, note: "" };

/** The questions in an input; what does not fit is left out. */
export function questionsOf(input: unknown): readonly Question[] {
  return listOf(fieldsOf(input)["questions"])
    .map((one) => ({
      text: textOf(one, "question"),
      header: textOf(one, "header"),
      several: fieldsOf(one)["multiSelect"] === true,
      options: listOf(fieldsOf(one)["options"])
        .map((option) => ({
          label: textOf(option, "label"),
          about: textOf(option, "description"),
          preview: textOf(option, "preview"),
        }))
        .filter((option) => option.label !== ""),
    }))
    .filter((question) => question.text !== "");
}

/** A reply after an option was chosen, or no longer. */
export function choose(question: Question, reply: Reply, label: string): Reply {
  if (!question.several) return { ...reply, chosen: [label], useOther: false };
  const chosen = reply.chosen.includes(label)
    ? reply.chosen.filter((one) => one !== label)
    : [...reply.chosen, label];
  return { ...reply, chosen };
}

/** A reply after somebody wrote an answer of their own. */
export function write(question: Question, reply: Reply, other: string): Reply {
  const useOther = other.trim() !== "";
  return { ...reply, other, useOther, chosen: useOther && !question.several ? [] : reply.chosen };
}

export function isAnswered(reply: Reply): boolean {
  return reply.chosen.length > 0 || (reply.useOther && reply.other.trim() !== "");
}

/** Answers by the text of the question, as an intent carries them. */
export function answersOf(
  questions: readonly Question[],
  replies: readonly Reply[],
): Record<string, string | readonly string[]> {
  const answers: Record<string, string | readonly string[]> = {};
  questions.forEach((question, at) => {
    const reply = replies[at] ?? NO_REPLY;
    if (!isAnswered(reply)) return;
    // In the order they were offered, whatever the order they were clicked in.
    const labels = question.options.map((one) => one.label).filter((one) => reply.chosen.includes(one));
    const all = reply.useOther ? [...labels, reply.other.trim()] : labels;
    answers[question.text] = question.several ? all : (all[0] ?? "");
  });
  return answers;
}

/** Notes by the text of the question. */
export function notesOf(
  questions: readonly Question[],
  replies: readonly Reply[],
): Record<string, string> {
  const notes = questions.map((one, at) => [one.text, (replies[at] ?? NO_REPLY).note.trim()] as const);
  return Object.fromEntries(notes.filter(([, note]) => note !== ""));
}
