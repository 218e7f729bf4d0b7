"""AskUserQuestion: typed questions, answers by the question's text (CLI-401)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from fairlead import Answers, Choice, Deny, Question, QuestionRequest, UsageError
from fairlead.testing.real_cli import RealCli
from tests.e2e.real_cli.cli_harness import CliHarness, ScriptedDecisions, tool_lines

OPTIONS = [
    {"label": "Red", "description": "warm"},
    {"label": "Blue", "description": "cold"},
    {"label": "Green", "description": "fresh"},
]


def question(text: str, *, multi: bool = False) -> dict[str, Any]:
    return {"question": text, "header": "Colour", "options": OPTIONS, "multiSelect": multi}


class Person:
    """Answers questions as scripted and records them."""

    def __init__(self, *replies: Answers | Mapping[str, Any] | Deny) -> None:
        self.asked: list[QuestionRequest] = []
        self._replies = list(replies)

    async def __call__(self, request: QuestionRequest) -> Answers | Mapping[str, Any] | Deny:
        self.asked.append(request)
        return self._replies.pop(0)


async def answers_of(
    harness: CliHarness, session: Any, *questions: dict[str, Any]
) -> dict[str, Any]:
    """Let the model ask, and give what the stream says of the answers."""
    messages = await harness.use(session, "AskUserQuestion", questions=list(questions))
    ((line, block),) = tool_lines(messages)
    assert block.is_error is not True
    answers: dict[str, Any] = line.tool_use_result["answers"]
    return answers


def heard(harness: CliHarness) -> str:
    """What the model received as the last answer."""
    return harness.model.requests[-1].tool_results[0].text


async def test_questions_are_typed_and_answers_are_keyed_by_their_text(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-401: answers keyed by question text, free text, several choices as one string."""
    person = Person(
        {"One colour?": "Blue"},
        {"Some colours?": ["Red", "Green"]},
        {"Any colour?": 'Mauve, "very" mauve'},
    )
    async with harness.session(on_question=person) as session:
        assert await answers_of(harness, session, question("One colour?")) == {
            "One colour?": "Blue"
        }
        assert '"One colour?"="Blue"' in heard(harness)
        chosen = await answers_of(harness, session, question("Some colours?", multi=True))
        assert chosen == {"Some colours?": "Red, Green"}
        assert '"Some colours?"="Red, Green"' in heard(harness)
        typed = await answers_of(harness, session, question("Any colour?"))
        assert typed == {"Any colour?": 'Mauve, "very" mauve'}
        assert "Mauve" in heard(harness)
    one, several, _ = person.asked
    choices = tuple(Choice(o["label"], o["description"]) for o in OPTIONS)
    assert one.questions == (Question(text="One colour?", header="Colour", choices=choices),)
    assert several.questions[0].multi_select
    assert one.permission.tool_name == "AskUserQuestion"
    assert one.permission.needs_user == (cli.key >= (2, 1, 220))


async def test_notes_partial_answers_and_a_refusal_reach_the_model(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-401: annotations; partly answered, not answered, declined."""
    person = Person(
        Answers({"One?": "Red"}, notes={"One?": "but not too red"}),
        {"Two?": "Blue"},
        {},
        Deny("The user is at lunch."),
    )
    async with harness.session(on_question=person) as session:
        await answers_of(harness, session, question("One?"))
        assert ("but not too red" in heard(harness)) == (cli.key >= (2, 1, 120))
        partly = await answers_of(harness, session, question("One?"), question("Two?"))
        assert partly == {"Two?": "Blue"}
        assert '"One?"' not in heard(harness)
        assert await answers_of(harness, session, question("One?")) == {}
        await harness.use(session, "AskUserQuestion", questions=[question("One?")])
        assert heard(harness) == "The user is at lunch."
        assert harness.model.requests[-1].tool_results[0].is_error
    assert [one.text for one in person.asked[1].questions] == ["One?", "Two?"]


async def test_an_answer_to_an_unknown_question_is_a_host_error_and_denies(
    harness: CliHarness,
) -> None:
    """CLI-401: keys by index reach no question; Fairlead refuses to send them."""
    person = Person({"0": "Blue"})
    async with harness.session(on_question=person) as session:
        await harness.use(session, "AskUserQuestion", questions=[question("One?")])
    assert harness.model.requests[-1].tool_results[0].is_error
    assert "Asked: One?" in heard(harness)
    with pytest.raises(UsageError, match="'0'"):
        Answers({"0": "Blue"}).decide(person.asked[0])


async def test_without_a_question_handler_the_permission_handler_is_asked(
    harness: CliHarness,
) -> None:
    """CLI-401: a question is a permission request with its questions as input."""
    decisions = ScriptedDecisions(Deny("Nobody is here."))
    async with harness.session(on_permission=decisions) as session:
        await harness.use(session, "AskUserQuestion", questions=[question("One?")])
    assert decisions.tools == ["AskUserQuestion"]
    assert decisions.asked[0].input["questions"][0]["question"] == "One?"
    assert heard(harness) == "Nobody is here."
