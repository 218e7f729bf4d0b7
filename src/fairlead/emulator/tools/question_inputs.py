"""Validates the questions of AskUserQuestion. Pure.

Measured on 2.1.38 and 2.1.325 (CLI-1015): the fields of questions and options, 1 to 4 questions, 2
to 4 options for each, and texts that occur only once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from fairlead.emulator.tools.outcome import Outcome

__all__ = ["check_questions"]

MOST = 4
NOT_UNIQUE = "Question texts must be unique, option labels must be unique within each question"

Path = tuple[str | int, ...]


def check_questions(questions: Sequence[Any]) -> Outcome | None:
    """The error about invalid questions; None if they are valid."""
    types = list(_type_issues(questions))
    if types:
        texts = [_message(issue) for issue in types]
        noun = "issue" if len(texts) == 1 else "issues"
        head = f"AskUserQuestion failed due to the following {noun}:"
        return _refused("\n".join([head, *texts]), types)
    issues = [*_size_issues(questions)]
    if not _are_unique(questions):
        issues.append({"code": "custom", "path": [], "message": NOT_UNIQUE})
    return _refused(None, issues) if issues else None


def _refused(text: str | None, issues: list[dict[str, Any]]) -> Outcome:
    report = json.dumps(issues, indent=2, ensure_ascii=False)
    return Outcome(
        content=f"<tool_use_error>InputValidationError: {text or report}</tool_use_error>",
        result=f"InputValidationError: {report}",
        is_error=True,
    )


def _type_issues(questions: Sequence[Any]) -> Iterator[dict[str, Any]]:
    for number, question in enumerate(questions):
        path: Path = ("questions", number)
        yield from _type_issue(question, "object", path)
        if not isinstance(question, dict):
            continue
        for key, kind in (("question", "string"), ("header", "string"), ("options", "array")):
            yield from _type_issue(question.get(key), kind, (*path, key))
        if question.get("multiSelect") is not None:
            yield from _type_issue(question["multiSelect"], "boolean", (*path, "multiSelect"))
        options = question.get("options")
        for index, option in enumerate(options if isinstance(options, list) else ()):
            own: Path = (*path, "options", index)
            yield from _type_issue(option, "object", own)
            if isinstance(option, dict):
                for key in ("label", "description"):
                    yield from _type_issue(option.get(key), "string", (*own, key))


def _type_issue(value: Any, expected: str, path: Path) -> Iterator[dict[str, Any]]:
    received = _kind(value)
    if received != expected:
        yield {
            "expected": expected,
            "code": "invalid_type",
            "path": list(path),
            "message": f"Invalid input: expected {expected}, received {received}",
        }


def _kind(value: Any) -> str:
    kinds = {str: "string", bool: "boolean", int: "number", float: "number", list: "array"}
    return "undefined" if value is None else kinds.get(type(value), "object")


def _message(issue: dict[str, Any]) -> str:
    first, *rest = issue["path"]
    name = str(first) + "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in rest)
    received = issue["message"].rpartition(" ")[2]
    if received == "undefined":
        return f"The required parameter `{name}` is missing"
    expected = issue["expected"]
    return f"The parameter `{name}` type is expected as `{expected}` but provided as `{received}`"


def _size_issues(questions: Sequence[Any]) -> Iterator[dict[str, Any]]:
    yield from _size_issue(questions, 1, ("questions",))
    for number, question in enumerate(questions):
        yield from _size_issue(question["options"], 2, ("questions", number, "options"))


def _size_issue(items: Sequence[Any], least: int, path: Path) -> Iterator[dict[str, Any]]:
    if least <= len(items) <= MOST:
        return
    few = len(items) < least
    bound = {"code": "too_small", "minimum": least} if few else {"code": "too_big", "maximum": MOST}
    size, sign = ("small", f">={least}") if few else ("big", f"<={MOST}")
    yield {
        "origin": "array",
        **bound,
        "inclusive": True,
        "path": list(path),
        "message": f"Too {size}: expected array to have {sign} items",
    }


def _are_unique(questions: Sequence[Any]) -> bool:
    texts = [question["question"] for question in questions]
    labels = [[option["label"] for option in question["options"]] for question in questions]
    return all(
        len(set(texts_of_group)) == len(texts_of_group) for texts_of_group in (texts, *labels)
    )
