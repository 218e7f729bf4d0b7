"""Checks of the free text in an answer, which reaches the model as text of the user.

A device with the approver role may choose among the offered answers, but it may not send prompts.
Free text in a denial, in feedback on a plan, in an answer or in a form would be a prompt in another
form, so these functions refuse it. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairlead.host.requests.elicitations import ElicitationRequest
from fairlead.host.requests.questions import QuestionRequest
from fairlead.server.access.roles import require
from fairlead.server.protocol.intents import AnswerQuestions

__all__ = ["check_answers", "check_form", "check_message"]

NEEDED = "operator"


def check_message(role: str, message: str) -> None:
    """Refuse a free text of a client whose role may not send prompts."""
    if message:
        require(role, NEEDED, "Free text in an answer")


def check_answers(role: str, request: QuestionRequest, intent: AnswerQuestions) -> None:
    """Refuse answers that were not offered, and remarks."""
    offered = {
        question.text: {choice.label for choice in question.choices}
        for question in request.questions
    }
    several = {question.text for question in request.questions if question.multi_select}
    if any(intent.notes.values()):
        require(role, NEEDED, "A comment on an answer")
    for text, answer in (intent.answers or {}).items():
        chosen = (answer,) if isinstance(answer, str) else answer
        known = offered.get(text, set())
        if any(label not in known for label in chosen) or (len(chosen) > 1 and text not in several):
            require(role, NEEDED, "An answer that was not offered")


def check_form(role: str, request: ElicitationRequest, content: Mapping[str, Any] | None) -> None:
    """Refuse free texts in a form; switches, numbers and offered values are allowed."""
    schema = request.schema if isinstance(request.schema, Mapping) else {}
    fields = schema.get("properties")
    known = fields if isinstance(fields, Mapping) else {}
    for name, value in (content or {}).items():
        if not _is_offered(known.get(name), value):
            require(role, NEEDED, f"Free text in the field {name!r:.80}")


def _is_offered(field: Any, value: Any) -> bool:
    if not isinstance(field, Mapping):
        return False
    kind = field.get("type")
    if isinstance(value, bool):
        return kind == "boolean"
    if isinstance(value, int | float):
        return kind in ("number", "integer")
    if isinstance(value, list):
        return all(
            isinstance(entry, str) and entry in _offered(field.get("items")) for entry in value
        )
    return isinstance(value, str) and value in _offered(field)


def _offered(field: Any) -> list[Any]:
    """The values that a field lists, and its default."""
    if not isinstance(field, Mapping):
        return []
    values = list(field["enum"]) if isinstance(field.get("enum"), list) else []
    values.append(field.get("default"))
    for name in ("oneOf", "anyOf"):
        listed = field.get(name)
        for option in listed if isinstance(listed, list) else ():
            if isinstance(option, Mapping) and "const" in option:
                values.append(option["const"])
    return values
