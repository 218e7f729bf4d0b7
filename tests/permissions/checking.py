"""What the tests of this folder share: paths without a file system, and short ways to check a call."""

from __future__ import annotations

from typing import Any

from fairlead.permissions import (
    CURRENT,
    Behavior,
    Decision,
    Family,
    PathContext,
    RuleBook,
    ToolCall,
    check,
)

__all__ = ["CWD", "HOME", "bash", "behavior_of", "context", "decide", "tool"]

CWD = "/ship/project"
HOME = "/ship/home"


def context(
    family: Family = CURRENT, links: dict[str, str] | None = None, **more: Any
) -> PathContext:
    """Paths of a project without a file system; `links` are its symlinks."""

    def resolve(path: str) -> str:
        for link, target in (links or {}).items():
            if path == link or path.startswith(link + "/"):
                return target + path[len(link) :]
        return path

    return PathContext(cwd=CWD, home=HOME, family=family, resolve=resolve, **more)


def tool(name: str, **fields: Any) -> ToolCall:
    return ToolCall(tool=name, input=fields)


def bash(command: str) -> ToolCall:
    return tool("Bash", command=command)


def decide(
    call: ToolCall | str, book: RuleBook | None = None, at: PathContext | None = None
) -> Decision:
    asked = bash(call) if isinstance(call, str) else call
    return check(asked, book or RuleBook(), at or context())


def behavior_of(
    call: ToolCall | str, book: RuleBook | None = None, at: PathContext | None = None
) -> Behavior:
    return decide(call, book, at).behavior
