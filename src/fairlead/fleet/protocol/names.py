"""The names of sessions at a gateway. Pure.

Fairlead's own sessions have random ids, which are unique in a fleet. The CLI's own sessions have the
names of their files, and home folders may be synchronized between machines: so their names at a
gateway begin with the id of the node. Two underscores separate them, because a name must be usable
as a token of a subject and as a part of an address, and neither an id of a node nor the CLI's ids
contain them.
"""

from __future__ import annotations

__all__ = ["name_of", "split_name"]

SEPARATOR = "__"


def name_of(node: str, session: str, source: str) -> str:
    """The name at a gateway of a session with this source."""
    return f"{node}{SEPARATOR}{session}" if source == "cli" else session


def split_name(name: str) -> tuple[str, str] | None:
    """The node and the id of one of the CLI's own sessions; None for another name."""
    node, separator, session = name.partition(SEPARATOR)
    return (node, session) if separator and node and session else None
