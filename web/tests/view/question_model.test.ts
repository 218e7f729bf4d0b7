import { describe, expect, test } from "vitest";
import {
  answersOf, choose, isAnswered, NO_REPLY, notesOf, questionsOf, write,
} from "../../src/core/conversation/question_model.ts"; // prettier-ignore

const INPUT = {
  questions: [
    { question: "Color?", header: "Color", options: [{ label: "Red" }, { label: "Blue", preview: "#00f" }] },
    { question: "Which?", multiSelect: true, options: [{ label: "A" }, { label: "B" }, { label: "" }] },
    { nothing: true },
  ],
};
const [color, which] = questionsOf(INPUT);
if (!color || !which) throw new Error("the questions are read");

describe("questions", () => {
  test("are read without what does not fit", () => {
    expect(questionsOf(INPUT)).toHaveLength(2);
    expect(which.options.map((one) => one.label)).toEqual(["A", "B"]);
    expect(questionsOf("x")).toEqual([]);
  });

  test("one choice replaces the other, several add up and can be taken back", () => {
    expect(choose(color, choose(color, NO_REPLY, "Red"), "Blue").chosen).toEqual(["Blue"]);
    const both = choose(which, choose(which, NO_REPLY, "B"), "A");
    expect(both.chosen).toEqual(["B", "A"]);
    expect(choose(which, both, "B").chosen).toEqual(["A"]);
  });

  test("words of one's own take the place of a single choice and join several", () => {
    expect(write(color, choose(color, NO_REPLY, "Red"), "Teal").chosen).toEqual([]);
    const reply = write(which, choose(which, NO_REPLY, "A"), "C too");
    expect(answersOf([color, which], [write(color, NO_REPLY, " Teal "), reply])).toEqual({
      "Color?": "Teal",
      "Which?": ["A", "C too"],
    });
  });

  test("answers come in the order of the options and only for what was answered", () => {
    const reply = choose(which, choose(which, NO_REPLY, "B"), "A");
    expect(answersOf([color, which], [NO_REPLY, reply])).toEqual({ "Which?": ["A", "B"] });
    expect(isAnswered(write(color, NO_REPLY, "  "))).toBe(false);
  });

  test("notes are kept by the question", () => {
    expect(notesOf([color, which], [{ ...NO_REPLY, note: " why " }])).toEqual({ "Color?": "why" });
  });
});
