"""The table of message types in docs/wire.md, made from the unions and their docstrings.

`python -m tests.wire.type_table` writes it again; test_type_table.py compares.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from fairlead.wire import inputs
from tests.wire.kinds import KINDS

__all__ = ["DOCUMENT", "MARK", "table", "table_in_document"]

DOCUMENT = Path(__file__).parents[2] / "docs" / "wire.md"
MARK = (
    "<!-- Made by `python -m tests.wire.type_table` from the unions and docstrings of "
    "fairlead.wire. -->\n"
)

TITLES = {
    "": "Lines of the CLI, by `type`",
    "system": "Lines of type `system`, by `subtype`",
    "request": "Requests of the CLI to the host, by `subtype`",
    "block": "Content blocks, by `type`",
    "api_event": "Events inside a `stream_event`, by `type`",
    "delta": "Deltas inside a `content_block_delta`, by `type`",
    "update": "Permission updates, by `type`",
}

HOW_INPUTS_LOOK = {
    "Prompt": "`user`",
    "Request": "`control_request`",
    "Answer": "`control_response`, `success`",
    "AnswerError": "`control_response`, `error`",
    "SetEnvironment": "`update_environment_variables`",
    "ForeignPrompt": "`user`, of another host",
    "UnknownInput": "anything else",
}

UNNAMED = {"unknown": "anything else", "malformed": "no JSON object"}
_CITATION = re.compile(r" \(CLI-\d+\)")


def table() -> str:
    """The whole section, as it should be in the document."""
    parts = [_section(family, title) for family, title in TITLES.items()]
    rows = [(HOW_INPUTS_LOOK[member.__name__], member) for member in get_args(inputs.Input)]
    parts.append(_titled("What a host sends, or a recording of its stdin holds", rows))
    return "".join(parts)


def table_in_document() -> str:
    """The section as it is in the document."""
    _, matches, rest = DOCUMENT.read_text().partition(MARK)
    assert matches, f"{DOCUMENT.name} has no place for the table"
    return rest


def _section(family: str, title: str) -> str:
    named: dict[str, type] = {}
    unnamed: dict[str, type] = {}
    for kind, member in KINDS.items():
        first, _, second = kind.partition(".")
        if (first if first in TITLES else "") != family:
            continue
        own = second if family else first
        if own in UNNAMED:
            unnamed[UNNAMED[own]] = member
        else:
            named[f"`{own}`"] = member
    return _titled(title, [*named.items(), *unnamed.items()])


def _titled(title: str, rows: list[tuple[str, type]]) -> str:
    lines = [f"\n### {title}\n", "| on the wire | in Python | what it says |", "|---|---|---|"]
    for name, member in rows:
        module = member.__module__.removeprefix("fairlead.wire.")
        lines.append(f"| {name} | `{module}.{member.__name__}` | {_first_sentence(member)} |")
    return "\n".join(lines) + "\n"


def _first_sentence(member: type) -> str:
    first = " ".join((member.__doc__ or "").split("\n\n")[0].split())
    return _CITATION.sub("", first)


if __name__ == "__main__":
    before, mark, _ = DOCUMENT.read_text().partition(MARK)
    DOCUMENT.write_text(before + mark + table())
