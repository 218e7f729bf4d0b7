"""Parses what `rg --json` prints. Pure."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from typing import Any

__all__ = ["LINE_CHARS", "Match", "parse_ripgrep"]

LINE_CHARS = 400
"""Characters of a line that are kept."""


@dataclass(frozen=True, slots=True)
class Match:
    """A line that contains the text. The path may contain surrogate escapes."""

    path: str
    line: int
    text: str


def parse_ripgrep(printed: bytes, most: int) -> list[Match]:
    """The matches in what ripgrep printed, up to a number; other records are ignored."""
    matches: list[Match] = []
    for line in printed.split(b"\n"):
        if len(matches) >= most:
            break
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        match = _ripgrep_match(record)
        if match is not None:
            matches.append(match)
    return matches


def _ripgrep_match(record: Any) -> Match | None:
    if not isinstance(record, dict) or record.get("type") != "match":
        return None
    data = record.get("data")
    if not isinstance(data, dict) or not isinstance(data.get("line_number"), int):
        return None
    path, text = _bytes(data.get("path")), _bytes(data.get("lines"))
    if path is None or text is None:
        return None
    return Match(_path(path.removeprefix(b"./")), data["line_number"], _text(text.split(b"\n")[0]))


def _bytes(value: Any) -> bytes | None:
    """ripgrep writes text, or base64 of what is not UTF-8."""
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("text"), str):
        return str(value["text"]).encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(str(value.get("bytes", "")))
    except (binascii.Error, ValueError):
        return None


def _path(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")[:LINE_CHARS].rstrip("\r")
