"""Checks of single option values: each takes the option's name and the value, gives the value
back in the form that is kept, and raises `OptionError` with what to do for anything else.

Pure, and no option is named here: `options` and `option_groups` say which check each field
gets. A text that becomes part of a command line is a `flag_value`: it may not begin with `-`,
be empty, or hold a NUL, so that no CLI can read it as another flag.
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
"""Letters of a wrong value that an error repeats."""


def settle(owner: object, prefix: str = "", /, **checks: Check) -> None:
    """Check the named fields of a frozen dataclass and keep what each check gives back."""
    for name, check in checks.items():
        object.__setattr__(owner, name, check(prefix + name, getattr(owner, name)))


def optional(check: Check) -> Check:
    """The same check, but None passes."""
    return lambda option, value: None if value is None else check(option, value)


def each(check: Check) -> Check:
    """Check every element of a list or tuple; the whole is kept as a tuple."""

    def check_all(option: str, value: Any) -> tuple[Any, ...]:
        if isinstance(value, str | bytes) or not isinstance(value, Sequence):
            raise OptionError(option, f"takes a list, not {_kind(value)}.", "Put it in [ ].")
        return tuple(check(f"{option}[{index}]", one) for index, one in enumerate(value))

    return check_all


def one_of(*choices: str) -> Check:
    """One of a few words."""

    def check(option: str, value: Any) -> str:
        if value not in choices or not isinstance(value, str):
            raise OptionError(option, f"{_show(value)} is none of {', '.join(choices)}.")
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
        raise OptionError(option, "holds half a character (a lone surrogate).") from None
    return value


def flag_value(option: str, value: Any) -> str:
    """A text that may stand on a command line."""
    checked = text(option, value)
    if not checked.strip():
        raise OptionError(option, "is empty.", "Give a value, or leave the option out.")
    if checked.startswith("-"):
        raise OptionError(
            option, f"{_show(checked)} begins with '-', which a CLI may take for a flag."
        )
    if "\0" in checked:
        raise OptionError(option, "holds a NUL, which no command line can carry.")
    return checked


def word(option: str, value: Any) -> str:
    """A flag value without blanks or commas, such as the name of a model or tool."""
    checked = flag_value(option, value)
    if re.search(r"[\s,]", checked):
        raise OptionError(option, f"{_show(checked)} holds a blank or a comma: not one name.")
    return checked


def path(option: str, value: Any) -> str:
    """A path, kept as text; whether it is there is seen when it is used."""
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
    # A file name may hold bytes that are no UTF-8; Python keeps them as such surrogates.
    flag_value(option, re.sub("[\udc80-\udcff]", "?", plain))
    return plain


def uuid(option: str, value: Any) -> str:
    """An id as the CLI writes it."""
    checked = text(option, value)
    if not UUID.fullmatch(checked):
        raise OptionError(
            option, f"{_show(checked)} is no UUID.",
            "It looks like 550e8400-e29b-41d4-a716-446655440000.",
        )  # fmt: skip
    return checked


def switch(option: str, value: Any) -> bool:
    """True or False and nothing like it."""
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


def environment(option: str, value: Any) -> dict[str, str]:
    """Variables for a process. Values are never shown: they may be secrets."""
    if not isinstance(value, Mapping):
        raise OptionError(option, f"takes a mapping of names to texts, not {_kind(value)}.")
    for name, content in value.items():
        if not isinstance(name, str) or not name or re.search(r"[=\0]", name):
            raise OptionError(option, f"{_show(name)} cannot be the name of a variable.")
        if not isinstance(content, str):
            raise OptionError(option, f"{name} takes a text, not {_kind(content)}.")
        if "\0" in content:
            raise OptionError(option, f"{name} holds a NUL, which no environment can carry.")
    return dict(value)


def json_object(option: str, value: Any) -> dict[str, Any]:
    """A mapping that can be written as JSON."""
    if not isinstance(value, Mapping):
        raise OptionError(option, f"takes a dict, not {_kind(value)}.")
    plain = dict(value)
    try:
        # `default` lets any Mapping through that sits deeper, and nothing else.
        written = json.dumps(plain, allow_nan=False, default=_as_dict)
    except (TypeError, ValueError, RecursionError) as error:
        raise OptionError(option, f"cannot be written as JSON: {error}.") from None
    copy: dict[str, Any] = json.loads(written)
    return copy


def _as_dict(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")


def _number(option: str, value: Any, wanted: str, fits: Callable[[float], bool]) -> float:
    try:
        good = isinstance(value, int | float) and not isinstance(value, bool)
        number = float(value) if good else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or not fits(number):
        raise OptionError(option, f"takes {wanted}, not {_show(value)}.")
    return number


def _show(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= SHOWN else shown[:SHOWN] + "…"


def _kind(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
