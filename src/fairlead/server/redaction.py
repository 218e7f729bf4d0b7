"""The one way of the server's words into its log: secrets are blacked out on it (rule R12).

Nothing in Fairlead logs a token on purpose. An exception's text, a library's warning or a line
added later may carry one all the same, so every record passes the formatter here, tracebacks
included. Patterns only: what a secret looks like, never which ones there are.
"""

from __future__ import annotations

import logging
import re
from typing import TextIO

__all__ = ["Redacting", "log_to", "redacted"]

BLACK = "[removed]"

_NAMED = (
    r"(?i:api[_-]?key|auth[_-]?token|access[_-]?key|secret|password|passwd|token|cookie"
    r"|authorization|x-api-key|credential)"
)
_PATTERNS = (
    re.compile(r"(?i)(\b(?:bearer|basic)\s+)[^\s\"',;]+"),
    re.compile(r"(fairlead\.token\.)[^\s\"',;]+"),
    re.compile(r"(?i)([#?&](?:code|token|key|secret)=)[^\s\"'&]+"),
    re.compile(r"()\b(?:sk|pk|rk)-[\w-]{8,}"),
    re.compile(r"()\b(?:ghp|gho|ghs|github_pat|xox[abp]|AKIA|ASIA)[\w-]{8,}"),
    re.compile(r"()\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*"),
    re.compile(rf"({_NAMED}[\w-]*[\"']?\s*[:=]\s*[\"']?)(?!\[removed\])[^\s\"',;}}]+"),
    # A token of ours: 32 random bytes in the alphabet of URLs.
    re.compile(r"()(?<![\w-])[\w-]{43}(?![\w-])"),
)


def redacted(text: str) -> str:
    """A text without what looks like a secret."""
    for pattern in _PATTERNS:
        text = pattern.sub(rf"\1{BLACK}", text)
    return text


class Redacting(logging.Formatter):
    """Formats as usual, then takes secrets out of the whole of it."""

    def format(self, record: logging.LogRecord) -> str:
        """The line that is written."""
        return redacted(super().format(record))


def log_to(stream: TextIO) -> None:
    """Send everything that is logged in this process to a stream, and nowhere else."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(Redacting("fairlead: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
