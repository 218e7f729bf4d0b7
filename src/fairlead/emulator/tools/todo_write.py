"""TodoWrite: the whole list of things to do, old and new."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairlead.emulator.tools.outcome import Outcome

__all__ = ["TodoList"]


class TodoList:
    """The list of one owner."""

    def __init__(self) -> None:
        self._todos: list[Any] = []

    def write(self, input: Mapping[str, Any]) -> Outcome:
        """Replace the list; a list of completed items is cleared."""
        old, new = self._todos, list(input.get("todos") or ())
        done = all(isinstance(t, dict) and t.get("status") == "completed" for t in new)
        self._todos = [] if done else new
        text = "The todo list was changed. Continue with the remaining tasks."
        return Outcome(content=text, result={"oldTodos": old, "newTodos": new})
