"""The results of tools, and how failures are reported."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

__all__ = ["Outcome", "TaskEnd", "TaskStart", "failed", "invalid", "unusable"]


class TaskStart(Struct, frozen=True, kw_only=True):
    """A command that moved to the background."""

    task_id: str
    output_file: str


class TaskEnd(Struct, frozen=True, kw_only=True):
    """How a background command ended."""

    task_id: str
    exit_code: int
    output_file: str


class Outcome(Struct, frozen=True, kw_only=True):
    """The result of a tool: the content for the model and the structured result."""

    content: Any
    result: Any = None
    says_error_flag: bool = False
    """Whether a success carries `is_error: false`, as Bash does and the others do not."""
    is_error: bool = False
    task: TaskStart | None = None
    lines_added: int = 0
    lines_removed: int = 0
    followed_by: str = ""
    """The text of a synthetic user line that follows the result."""
    rejects_update: bool = False
    """The `updatedInput` of the host does not match the tool's schema."""
    non_execution_kind: str | None = None
    """Why the tool did not finish, if the result line reports it."""


def failed(text: str) -> Outcome:
    """The result of a tool that ran and failed."""
    return Outcome(content=text, result=f"Error: {text}", is_error=True)


def unusable(text: str) -> Outcome:
    """The result of a use that was refused before it ran."""
    wrapped = f"<tool_use_error>{text}</tool_use_error>"
    result = f"Error: {text.removeprefix('Error: ')}"
    return Outcome(content=wrapped, result=result, is_error=True)


def invalid(text: str) -> Outcome:
    """The result of an input that does not match the tool's schema."""
    problem = f"InputValidationError: {text}"
    wrapped = f"<tool_use_error>{problem}</tool_use_error>"
    return Outcome(content=wrapped, result=problem, is_error=True)
