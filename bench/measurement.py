"""The report of one contender about one run: a line of JSON on its stdout.

The Python runners write it from here, the Node runner in the same shape by itself. Imports next
to nothing, so that it does not add to the import time of a contender.
"""

from __future__ import annotations

import json
import resource
import sys
from typing import NamedTuple

__all__ = ["Measurement", "peak_rss", "read"]


class Measurement(NamedTuple):
    """One run of one contender. Seconds are processor time, user and system, of it alone."""

    messages: int
    """How many messages its own iteration delivered."""
    cpu_s: float
    """From just before the prompt until the result was delivered."""
    import_s: float
    """To import the library."""
    peak_rss: int
    """The most memory it held at any time, in bytes."""
    kinds: dict[str, int] | None
    """How many messages of each `type` came, if that was asked; counting them costs time."""

    def write(self) -> None:
        """Tell it."""
        sys.stdout.write(json.dumps(self._asdict()) + "\n")


def read(text: str) -> Measurement:
    """The report in the last line of a runner."""
    return Measurement(**json.loads(text.splitlines()[-1]))


def peak_rss() -> int:
    """The most memory this process held so far, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
