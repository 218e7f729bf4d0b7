"""JSON as the CLI writes it: UTF-8, with lone surrogates escaped.

A string of JavaScript may contain half of a surrogate pair, and JSON can (`"\\ud800"`), but
UTF-8 cannot. The CLI escapes it again when it writes JSON and replaces it in files and commands.
"""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["to_json", "well_formed"]

_LONE = re.compile("[\ud800-\udfff]")


def to_json(value: Any) -> str:
    """One line of JSON that can be encoded as UTF-8."""
    text = json.dumps(value, ensure_ascii=False)
    return _LONE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def well_formed(value: Any) -> Any:
    """The value with U+FFFD for each lone surrogate, as it is written to a file."""
    if isinstance(value, str):
        return _LONE.sub("\ufffd", value)
    if isinstance(value, list):
        return [well_formed(item) for item in value]
    if isinstance(value, dict):
        return {well_formed(key): well_formed(item) for key, item in value.items()}
    return value
