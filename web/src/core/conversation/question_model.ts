/** The questions of a model and the answers so far, up to what the intent contains. Pure. */
import { fieldsOf, listOf, textOf } from "../plain.ts";

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

/** The answer to one question: labels, the user's own text, and a note. */
export interface Reply {
  readonly chosen: readonly string[];
  readonly other: string;
  /** Whether the user's own text is part of the answer. */
  readonly useOther: boolean;
  readonly note: string;
}

export const NO_REPLY: Reply = { chosen: [], other: "", useOther: false, note: "" };

/** The questions in an input; invalid entries are left out. */
export function questionsOf(input: unknown): readonly Question[] {
  return listOf(fieldsOf(input)["questions"])
    .map((question) => ({
      text: textOf(question, "question"),
      header: textOf(question, "header"),
      several: fieldsOf(question)["multiSelect"] === true,
      options: listOf(fieldsOf(question)["options"])
        .map((option) => ({
          label: textOf(option, "label"),
          about: textOf(option, "description"),
          preview: textOf(option, "preview"),
        }))
        .filter((option) => option.label !== ""),
    }))
    .filter((question) => question.text !== "");
}

/** A reply after an option was selected or deselected. */
export function choose(question: Question, reply: Reply, label: string): Reply {
  if (!question.several) return { ...reply, chosen: [label], useOther: false };
  const chosen = reply.chosen.includes(label)
    ? reply.chosen.filter((each) => each !== label)
    : [...reply.chosen, label];
  return { ...reply, chosen };
}

/** A reply after the user typed an answer of their own. */
export function write(question: Question, reply: Reply, other: string): Reply {
  const useOther = other.trim() !== "";
  return { ...reply, other, useOther, chosen: useOther && !question.several ? [] : reply.chosen };
}

export function isAnswered(reply: Reply): boolean {
  return reply.chosen.length > 0 || (reply.useOther && reply.other.trim() !== "");
}

/** Answers by the text of the question, as the intent contains them. */
export function answersOf(
  questions: readonly Question[],
  replies: readonly Reply[],
): Record<string, string | readonly string[]> {
  const answers: Record<string, string | readonly string[]> = {};
  questions.forEach((question, at) => {
    const reply = replies[at] ?? NO_REPLY;
    if (!isAnswered(reply)) return;
    // In the order in which they were offered, whatever the order of the clicks.
    const labels = question.options.map((option) => option.label).filter((label) => reply.chosen.includes(label));
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
  const notes = questions.map((question, at) => [question.text, (replies[at] ?? NO_REPLY).note.trim()] as const);
  return Object.fromEntries(notes.filter(([, note]) => note !== ""));
}
