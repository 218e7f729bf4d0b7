"""Where the emulator and a recording may differ, and why. Everything else must match.

A difference names the scenario, the version, what is left out of the comparison on both sides (a
kind of line, or a key by its path in such a line), and the reason. The list is meant to stay
short: each entry says why the emulator does not follow the real CLI there.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Any

OLD, NEW = "2.1.38", "2.1.325"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One thing that is not compared."""

    scenario: str
    """Its name, or a pattern such as `err_*`"""
    versions: tuple[str, ...]
    line: str
    """type, or type/subtype; `_raw` for a line that is not JSON"""
    path: str = ""
    """A key inside such a line; empty for the whole line"""
    reason: str


DIFFERENCES = (
    Difference(
        scenario="help",
        versions=(OLD, NEW),
        line="_raw",
        reason="The help text is prose of the real CLI; the emulator has its own.",
    ),
    Difference(
        scenario="help",
        versions=(NEW,),
        line="object",
        reason="One line of that prose happens to be JSON: the example of a schema.",
    ),
    Difference(
        scenario="err_404",
        versions=(OLD,),
        line="assistant",
        path="message.usage",
        reason="The model of the recording sent fewer token counts in a reply without a stream.",
    ),
    Difference(
        scenario="err_404",
        versions=(OLD, NEW),
        line="assistant",
        path="message.stop_sequence",
        reason="The model of the recording left this field out of a reply without a stream.",
    ),
    Difference(
        scenario="err_*",
        versions=(NEW,),
        line="assistant",
        path="request_id",
        reason="The model of the recording sent no request id with an error.",
    ),
    *(
        Difference(
            scenario="eof_bash",
            versions=(NEW,),
            line=f"system/{subtype}",
            reason="The real CLI may announce `sleep 3` as a task or not: both take three seconds. It "
            "did in `agent_front`, 0.03 s before the result, and not here. The emulator always does.",
        )
        for subtype in ("task_started", "task_notification")
    ),
    Difference(
        scenario="sig_term_bash",
        versions=(NEW,),
        line="system/task_started",
        reason="A dying 2.1.325 moves the running command to the background first.",
    ),
    Difference(
        scenario="sig_term_bash",
        versions=(NEW,),
        line="system/task_notification",
        reason="The same: the end of a task that never was one for the host.",
    ),
    Difference(
        scenario="sig_term_bash",
        versions=(NEW,),
        line="user",
        reason="The same: the result of that command, after which nothing comes.",
    ),
    Difference(
        scenario="perm_allow",
        versions=(NEW,),
        line="control_request/can_use_tool",
        path="request.permission_suggestions",
        reason="For two commands of which one redirects, the CLI suggests a rule for the first "
        "alone, the permissions package one for the whole line, which is narrower.",
    ),
)


FLOATING = {
    "tools_bash": "a command in the background ends when it ends, before or after the next one",
}
"""Scenarios whose lines about background tasks are compared in their own order only."""

BACKGROUND = ("system/task_", "system/background_tasks_changed")


def accepted(lines: list[Any], version: str, scenario: str) -> list[Any]:
    """The skeletons without what may differ."""
    if scenario in FLOATING:
        lines = sorted(lines, key=lambda line: _kind(line).startswith(BACKGROUND))
    applying = [d for d in DIFFERENCES if fnmatch(scenario, d.scenario) and version in d.versions]
    remaining = []
    for line in lines:
        named = [d for d in applying if _kind(line).startswith(d.line)]
        if any(not d.path for d in named):
            continue
        for difference in named:
            line = _without(line, difference.path.split("."))
        remaining.append(line)
    return remaining


def _kind(line: Any) -> str:
    if "_raw" in line:
        return "_raw"
    request = line.get("request")
    subtype = line.get("subtype") or (request or {}).get("subtype") or ""
    return f"{line.get('type')}/{subtype}".rstrip("/")


def _without(value: Any, path: list[str]) -> Any:
    if not isinstance(value, dict) or path[0] not in value:
        return value
    if len(path) == 1:
        return {key: part for key, part in value.items() if key != path[0]}
    return {**value, path[0]: _without(value[path[0]], path[1:])}
