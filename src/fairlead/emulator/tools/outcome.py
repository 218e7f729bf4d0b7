"""What a tool gives back, and how a failure is said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Outcome", "TaskEnd", "TaskStart", "failed", "invalid", "unusable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStart:
    """A command that went on in the background."""

    task_id: str
    output_file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEnd:
    """How a background command ended."""

    task_id: str
    exit_code: int
    output_file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a tool: what the model reads and its structured twin."""

    content: Any
    result: Any = None
    says_error_flag: bool = False
    """Whether a success carries `is_error: false`, as Bash does and the others do not."""
    is_error: bool = False
    task: TaskStart | None = None
    lines_added: int = 0
    lines_removed: int = 0


def failed(text: str) -> Outcome:
    """A tool that ran and did not work."""
    return Outcome(content=text, result=f"Error: {text}", is_error=True)


def unusable(text: str) -> Outcome:
    """A use that was refused before it ran; the text may say itself that it is an error."""
    wrapped = f"<tool_use_error>{text}</tool_use_error>"
    result = f"Error: {text.removeprefix('Error: ')}"
    return Outcome(content=wrapped, result=result, is_error=True)


def invalid(text: str) -> Outcome:
    """An input that does not fit the tool's schema."""
    problem = f"InputValidationError: {text}"
    wrapped = f"<tool_use_error>{problem}</tool_use_error>"
    return Outcome(content=wrapped, result=problem, is_error=True)
