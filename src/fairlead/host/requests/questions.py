"""AskUserQuestion: typed questions in, answers keyed by the text of the question out.

The CLI sends questions as a permission request and expects the answers in its edited input. The
keys are the texts of the questions, and several choices are one string (CLI-401). Only this
module knows that format.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from fairlead.errors import UsageError
from fairlead.host.requests.decisions import Allow, Decision, Deny, PermissionRequest
from fairlead.host.requests.tool_names import QUESTION_TOOL

__all__ = ["TOOL_NAME", "Answers", "Choice", "Question", "QuestionHandler", "QuestionRequest"]

TOOL_NAME = QUESTION_TOOL

AnswerText: TypeAlias = str | Sequence[str]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the answers that are offered."""

    label: str
    description: str = ""
    preview: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question; a text other than the choices is a valid answer too."""

    text: str
    header: str = ""
    choices: tuple[Choice, ...] = ()
    multi_select: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRequest:
    """The model asks the user one to four questions."""

    id: str
    questions: tuple[Question, ...]
    permission: PermissionRequest
    """The request it came in, with the whole input."""

    @classmethod
    def of(cls, permission: PermissionRequest) -> QuestionRequest:
        """The questions inside a permission request; malformed ones are omitted."""
        items = permission.input.get("questions")
        questions = (
            tuple(_question(question) for question in items) if isinstance(items, list) else ()
        )
        return cls(id=permission.id, questions=questions, permission=permission)


@dataclass(frozen=True, slots=True)
class Answers:
    """What the user answered: question text -> label, labels, or free text."""

    answers: Mapping[str, AnswerText]
    notes: Mapping[str, str] = field(default_factory=dict)
    """Question text -> a note for the model; old CLIs ignore it."""

    def decide(self, request: QuestionRequest) -> Decision:
        """The permission decision that contains these answers."""
        texts = {question.text for question in request.questions}
        for text in [*self.answers, *self.notes]:
            if text not in texts:
                known = "; ".join(sorted(texts))
                raise UsageError(f"no question {text!r} was asked. Asked: {known}")
        # The whole input goes back: 2.1.325 refuses answers without their questions.
        edited: dict[str, Any] = {
            **request.permission.input,
            "answers": {text: _joined(answer) for text, answer in self.answers.items()},
        }
        if self.notes:
            edited["annotations"] = {text: {"notes": note} for text, note in self.notes.items()}
        return Allow(edited)


QuestionReply: TypeAlias = Answers | Mapping[str, AnswerText] | Deny
QuestionHandler: TypeAlias = Callable[[QuestionRequest], QuestionReply | Awaitable[QuestionReply]]


def decide(request: QuestionRequest, reply: QuestionReply) -> Decision:
    """The permission decision for a handler's reply."""
    if isinstance(reply, Deny):
        return reply
    if isinstance(reply, Answers):
        return reply.decide(request)
    if isinstance(reply, Mapping):
        return Answers(reply).decide(request)
    raise UsageError(
        f"a question handler returns answers by question text, or Deny(…), "
        f"not {type(reply).__name__}"
    )


def _question(item: Any) -> Question:
    fields = item if isinstance(item, dict) else {}
    options = fields.get("options")
    return Question(
        text=_text(fields.get("question")),
        header=_text(fields.get("header")),
        choices=tuple(_choice(option) for option in options) if isinstance(options, list) else (),
        multi_select=fields.get("multiSelect") is True,
    )


def _choice(option: Any) -> Choice:
    fields = option if isinstance(option, dict) else {}
    preview = fields.get("preview")
    return Choice(
        label=_text(fields.get("label")),
        description=_text(fields.get("description")),
        preview=preview if isinstance(preview, str) else None,
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _joined(answer: AnswerText) -> str:
    if isinstance(answer, str):
        return answer
    return ", ".join(answer)
