"""Parses and writes JSON, including texts that Node writes and fast parsers refuse.

`parse` takes what msgspec takes; what it refuses (lone surrogates that `JSON.stringify` writes
when a text is cut inside an emoji, NaN, a byte order mark, bytes that are not UTF-8, a number
without end) goes through the standard library, and surrogates become U+FFFD so that the value
can be written again. `write` is its inverse. Knows nothing about messages.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

__all__ = ["NotJson", "parse", "write"]

_fast = msgspec.json.Decoder()
_SURROGATE = re.compile("[\ud800-\udfff]")


class NotJson(ValueError):
    """The text is not JSON, or is nested too deeply."""


def parse(text: bytes) -> Any:
    """Any JSON text as plain values; raises `NotJson` for anything else."""
    try:
        return _fast.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _parse_slowly(text)


def write(value: Any) -> bytes:
    """Plain values as one line of JSON text that `parse` reads as the same values."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()
    except RecursionError:
        raise NotJson("nested too deep to be written") from None


def _parse_slowly(text: bytes) -> Any:
    try:
        value = json.loads(text.decode("utf-8-sig", errors="replace"), parse_int=_integer)
        return _without_surrogates(value)
    except RecursionError:
        raise NotJson("nested too deep to be read") from None
    except ValueError as problem:
        raise NotJson(str(problem)) from None


def _integer(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:
        # Python refuses integers of more than 4,300 digits; JavaScript reads them as infinity.
        return float(digits)


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(k): _without_surrogates(v) for k, v in value.items()}
    return value
