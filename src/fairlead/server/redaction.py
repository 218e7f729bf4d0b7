"""Removes secrets from everything that the server logs (rule R12).

Fairlead never logs a token on purpose. The text of an exception, a library's warning or a future
log line may still contain one, so every record passes this formatter, tracebacks included. It
recognizes secrets by their form and does not know the actual ones.
"""

from __future__ import annotations

import logging
import re
from typing import TextIO

__all__ = ["Redacting", "log_to", "redacted"]

REMOVED = "[removed]"

_NAMED = (
    r"(?i:api[_-]?key|auth[_-]?token|access[_-]?key|secret|password|passwd|token|cookie"
    r"|authorization|x-api-key|credential)"
)
_PATTERNS = (
    re.compile(r"(?i)(\b(?:bearer|basic)\s{1,8})[^\s\"',;]+"),
    re.compile(r"(fairlead\.token\.)[^\s\"',;]+"),
    re.compile(r"(?i)([#?&](?:code|token|key|secret)=)[^\s\"'&]+"),
    re.compile(r"()\b(?:sk|pk|rk)-[\w-]{8,}"),
    re.compile(r"()\b(?:ghp|gho|ghs|github_pat|xox[abp]|AKIA|ASIA)[\w-]{8,}"),
    re.compile(r"()(?<![\w-])eyJ[\w-]{8,}\.[\w-]+\.[\w-]*"),
    re.compile(
        rf"({_NAMED}[\w-]{{0,40}}[\"']?\s{{0,8}}[:=]\s{{0,8}}[\"']?)(?!\[removed\])[^\s\"',;}}]+"
    ),
    # A token of Fairlead: 32 random bytes in URL-safe base64.
    re.compile(r"()(?<![\w-])[\w-]{43}(?![\w-])"),
)


LONGEST = 16 * 1024
"""Most characters of one record: a failing CLI can print megabytes, and the event loop scans them."""


def redacted(text: str) -> str:
    """A text without anything that looks like a secret, and shortened if it is too long.

    Each pattern takes linear time: none can scan the same text repeatedly.
    """
    if len(text) > LONGEST:
        text = _shortened(text)
    for pattern in _PATTERNS:
        text = pattern.sub(rf"\1{REMOVED}", text)
    return text


def _shortened(text: str) -> str:
    beginning = text[:LONGEST]
    # A secret that is cut in two would no longer look like one, so its whole word is dropped.
    end = max(beginning.rfind(" "), beginning.rfind("\n"))
    beginning = beginning[: end + 1] if end > LONGEST // 2 else beginning[: LONGEST // 2]
    return f"{beginning}… ({len(text) - len(beginning):,} characters omitted)"


class Redacting(logging.Formatter):
    """Formats a record as usual, then removes secrets from the result."""

    def format(self, record: logging.LogRecord) -> str:
        """The line to write."""
        return redacted(super().format(record))


def log_to(stream: TextIO) -> None:
    """Send everything that this process logs to a stream, and nowhere else."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(Redacting("fairlead: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
