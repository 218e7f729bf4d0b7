"""Checks of single option values: each takes the option's name and the value, returns the value
in the form to store, and raises `OptionError` with a remedy for anything else.

Pure. No option is named here: `options` and `groups` assign a check to each field. A text that
becomes part of a command line is a `flag_value`: it may not begin with `-`, be empty, or contain
a NUL, so that no CLI can read it as another flag.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from fairlead.errors import OptionError

__all__ = [
    "UUID",
    "Check",
    "amount",
    "count",
    "each",
    "environment",
    "flag_value",
    "function",
    "instance",
    "json_object",
    "one_of",
    "optional",
    "path",
    "seconds",
    "settle",
    "switch",
    "text",
    "uuid",
    "word",
]

Check: TypeAlias = Callable[[str, Any], Any]

UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")

SHOWN = 60
"""Characters of a wrong value that an error quotes."""


def settle(owner: object, prefix: str = "", /, **checks: Check) -> None:
    """Check the named fields of a frozen dataclass and store what each check returns."""
    for name, check in checks.items():
        object.__setattr__(owner, name, check(prefix + name, getattr(owner, name)))


def optional(check: Check) -> Check:
    """The same check, but None passes."""
    return lambda option, value: None if value is None else check(option, value)


def each(check: Check) -> Check:
    """Check every element of a list or tuple; the result is a tuple."""

    def check_all(option: str, value: Any) -> tuple[Any, ...]:
        if isinstance(value, str | bytes) or not isinstance(value, Sequence):
            raise OptionError(option, f"takes a list, not {_kind(value)}.", "Put it in [ ].")
        return tuple(check(f"{option}[{index}]", item) for index, item in enumerate(value))

    return check_all


def one_of(*choices: str) -> Check:
    """One of a few values."""

    def check(option: str, value: Any) -> str:
        if value not in choices or not isinstance(value, str):
            raise OptionError(
                option, f"{_show(value)} is not valid; choose one of {', '.join(choices)}."
            )
        return value

    return check


def instance(kind: type, example: str) -> Check:
    """A value of this class."""

    def check(option: str, value: Any) -> Any:
        if not isinstance(value, kind):
            raise OptionError(option, f"takes {example}, not {_kind(value)}.")
        return value

    return check


def text(option: str, value: Any) -> str:
    """Any text that can be written as UTF-8."""
    if not isinstance(value, str):
        raise OptionError(option, f"takes a text, not {_kind(value)}.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise OptionError(option, "contains half a character (a lone surrogate).") from None
    return value


def flag_value(option: str, value: Any) -> str:
    """A text that can be passed on a command line."""
    checked = text(option, value)
    if not checked.strip():
        raise OptionError(option, "is empty.", "Give a value, or leave the option out.")
    if checked.startswith("-"):
        raise OptionError(
            option, f"{_show(checked)} begins with '-', which a CLI may take for a flag."
        )
    if "\0" in checked:
        raise OptionError(option, "contains a NUL, which a command line cannot contain.")
    return checked


def word(option: str, value: Any) -> str:
    """A flag value without spaces or commas, such as the name of a model or tool."""
    checked = flag_value(option, value)
    if re.search(r"[\s,]", checked):
        raise OptionError(
            option, f"{_show(checked)} contains a space or a comma, so it is not a single name."
        )
    return checked


def path(option: str, value: Any) -> str:
    """A path as text with `~` expanded; whether it exists is checked when it is used."""
    try:
        plain: str | bytes = os.fspath(value)
    except TypeError:
        raise OptionError(option, f"takes a path, not {_kind(value)}.") from None
    if isinstance(plain, bytes):
        raise OptionError(option, "takes a path of text, not of bytes.", "Use os.fsdecode().")
    if plain.startswith("-"):
        raise OptionError(
            option, f"{_show(plain)} begins with '-', which a CLI may take for a flag.",
            f"Write ./{plain} instead.",
        )  # fmt: skip
    # A file name may contain bytes that are not UTF-8; Python represents them as these surrogates.
    flag_value(option, re.sub("[\udc80-\udcff]", "?", plain))
    return os.path.expanduser(plain)


def uuid(option: str, value: Any) -> str:
    """An id as the CLI writes it."""
    checked = text(option, value)
    if not UUID.fullmatch(checked):
        raise OptionError(
            option, f"{_show(checked)} is not a UUID.",
            "It looks like 550e8400-e29b-41d4-a716-446655440000.",
        )  # fmt: skip
    return checked


def switch(option: str, value: Any) -> bool:
    """True or False; other truthy or falsy values are refused."""
    if not isinstance(value, bool):
        raise OptionError(option, f"takes True or False, not {_show(value)}.")
    return value


def count(option: str, value: Any) -> int:
    """A whole number from 1 up."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise OptionError(option, f"takes a whole number from 1 up, not {_show(value)}.")
    return value


def amount(option: str, value: Any) -> float:
    """A finite number above 0."""
    return _number(option, value, "a number above 0", lambda number: number > 0)


def seconds(option: str, value: Any) -> float:
    """A finite number of seconds from 0 up."""
    return _number(option, value, "a number of seconds from 0 up", lambda number: number >= 0)


def function(option: str, value: Any) -> Any:
    """Something that can be called."""
    if not callable(value):
        raise OptionError(option, f"takes a function, not {_kind(value)}.")
    return value


def variable_name(option: str, value: Any) -> str:
    """The name of an environment variable."""
    if not isinstance(value, str) or not value or re.search(r"[=\0]", value):
        raise OptionError(option, f"{_show(value)} cannot be the name of a variable.")
    return value


def environment(option: str, value: Any) -> dict[str, str]:
    """Variables for a process. Values are never shown: they may be secrets."""
    if not isinstance(value, Mapping):
        raise OptionError(option, f"takes a mapping of names to texts, not {_kind(value)}.")
    for name, content in value.items():
        variable_name(option, name)
        if not isinstance(content, str):
            raise OptionError(f"{option}[{name!r}]", f"must be a string, not {_kind(content)}.")
        if "\0" in content:
            raise OptionError(
                option, f"{name} contains a NUL, which an environment cannot contain."
            )
    return dict(value)


def json_object(option: str, value: Any) -> dict[str, Any]:
    """A mapping that can be written as JSON."""
    if not isinstance(value, Mapping):
        raise OptionError(option, f"takes a dict, not {_kind(value)}.")
    plain = dict(value)
    try:
        # `default` also accepts nested Mappings that are not dicts, and nothing else.
        written = json.dumps(plain, allow_nan=False, default=_as_dict)
    except (TypeError, ValueError, RecursionError) as error:
        raise OptionError(option, f"cannot be written as JSON: {error}.") from None
    copy: dict[str, Any] = json.loads(written)
    return copy


def _as_dict(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def _number(option: str, value: Any, expected: str, fits: Callable[[float], bool]) -> float:
    try:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        number = float(value) if is_number else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or not fits(number):
        raise OptionError(option, f"takes {expected}, not {_show(value)}.")
    return number


def _show(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= SHOWN else shown[:SHOWN] + "…"


def _kind(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
