/** The card of questions to the user. */
import type { ToolItem } from "../../../protocol/transcript.ts";
import { questionsOf } from "../../../core/conversation/question_model.ts";
import type { Outcome, ToolCard } from "../base/card.ts";
import { counted, fieldsOf, textOf } from "../../../core/plain.ts";
import QuestionTool from "./QuestionTool.svelte";

function outcome(item: ToolItem): readonly Outcome[] {
  const questions = questionsOf(item.input);
  const answers = fieldsOf(fieldsOf(item.structured)["answers"]);
  if (questions.length > 1) return [{ text: counted(questions.length, "question"), tone: "plain" }];
  const answer = textOf(answers, questions[0]?.text ?? "");
  return answer ? [{ text: answer.slice(0, 40), tone: "ok" }] : [];
}

export const question: ToolCard = {
  icon: "question",
  label: () => "Question",
  plainTarget: true,
  target: (item) => questionsOf(item.input)[0]?.text ?? "",
  outcome,
  opens: (item) => item.state === "done",
  body: QuestionTool,
};
