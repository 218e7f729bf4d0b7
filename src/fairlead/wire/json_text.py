"""JSON text to plain values, for everything Node can write and fast parsers refuse.

`parse` takes what msgspec takes; what it refuses (lone surrogates that `JSON.stringify` writes
when a text is cut inside an emoji, NaN, a byte order mark, bytes that are not UTF-8) goes
through the standard library, and surrogates become U+FFFD so that the value can be written
again. Knows nothing of messages.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

__all__ = ["NotJson", "parse"]

_fast = msgspec.json.Decoder()
_SURROGATE = re.compile("[\ud800-\udfff]")


class NotJson(ValueError):
    """The text is not JSON, or is nested too deep to be read."""


def parse(text: bytes) -> Any:
    """Any JSON text as plain values; raises `NotJson` for anything else."""
    try:
        return _fast.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return _parse_slowly(text)


def _parse_slowly(text: bytes) -> Any:
    try:
        value = json.loads(text.decode("utf-8-sig", errors="replace"))
        return _without_surrogates(value)
    except RecursionError:
        raise NotJson("nested too deep to be read") from None
    except ValueError as problem:
        raise NotJson(str(problem)) from None


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(one) for one in value]
    if isinstance(value, dict):
        return {_without_surrogates(k): _without_surrogates(v) for k, v in value.items()}
    return value
