"""What the tests of this folder share: one place, and short ways to ask about it."""

from __future__ import annotations

from typing import Any

from fairlead.permissions import (
    CURRENT,
    Behavior,
    Decision,
    Family,
    Place,
    RuleBook,
    ToolCall,
    check,
)

__all__ = ["CWD", "HOME", "bash", "decide", "place", "says", "tool"]

CWD = "/ship/project"
HOME = "/ship/home"


def place(family: Family = CURRENT, links: dict[str, str] | None = None, **more: Any) -> Place:
    """A place without a file system; `links` are the symlinks it has."""

    def resolve(path: str) -> str:
        for link, target in (links or {}).items():
            if path == link or path.startswith(link + "/"):
                return target + path[len(link) :]
        return path

    return Place(cwd=CWD, home=HOME, family=family, resolve=resolve, **more)


def tool(name: str, **fields: Any) -> ToolCall:
    return ToolCall(tool=name, input=fields)


def bash(command: str) -> ToolCall:
    return tool("Bash", command=command)


def decide(call: ToolCall | str, book: RuleBook | None = None, at: Place | None = None) -> Decision:
    asked = bash(call) if isinstance(call, str) else call
    return check(asked, book or RuleBook(), at or place())


def says(call: ToolCall | str, book: RuleBook | None = None, at: Place | None = None) -> Behavior:
    return decide(call, book, at).behavior
