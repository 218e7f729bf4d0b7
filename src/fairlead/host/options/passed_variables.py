"""Which variables of this process `--pass-env` and the settings `pass_env` add for the CLI. Pure.

A name may end in `*`, which matches every variable with that prefix, such as `OTEL_*`. Variables
that mark a surrounding session of Claude Code are never passed: the CLI would regard itself as a
part of that session.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from fairlead.errors import UsageError
from fairlead.host.options.environment import NESTED_MARKERS

__all__ = ["check_names", "passed_variables", "unset_variables"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\*?")


def check_names(names: Iterable[str], setting: str = "--pass-env") -> None:
    """Raise `UsageError`, which begins with the setting, for a name that cannot be passed."""
    for name in names:
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{setting}: {name!r} is not the name of a variable. Give names such as "
                "SSH_AUTH_SOCK, or a beginning such as OTEL_*. Set a value with --env NAME=VALUE."
            )
        if name in NESTED_MARKERS:
            raise UsageError(
                f"{setting}: {name} marks a session of Claude Code around this program, and a "
                "CLI that gets it does not work on its own."
            )


def passed_variables(names: Iterable[str], environment: Mapping[str, str]) -> tuple[str, ...]:
    """The variables that are set and that these names select, in order; raises `UsageError`."""
    names = tuple(names)
    check_names(names)
    selected: dict[str, None] = {}
    for name in names:
        start = name.removesuffix("*")
        matches = [
            each
            for each in environment
            if each == name or (start != name and each.startswith(start))
        ]
        selected |= dict.fromkeys(each for each in sorted(matches) if each not in NESTED_MARKERS)
    return tuple(selected)


def unset_variables(names: Iterable[str], environment: Mapping[str, str]) -> tuple[str, ...]:
    """The exact names of variables that are not set, for a warning."""
    return tuple(name for name in names if not name.endswith("*") and name not in environment)
