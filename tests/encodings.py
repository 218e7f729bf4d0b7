"""Counts how often the host encodes a message, without changing the code that does it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from fairlead.wire.encode import to_object

__all__ = ["counted_encodings"]


@contextmanager
def counted_encodings() -> Iterator[Counter[str]]:
    """Count the calls of `to_object` in this thread, by the class of the message."""
    counts: Counter[str] = Counter()

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code is to_object.__code__:
            counts[type(frame.f_locals["message"]).__name__] += 1

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield counts
    finally:
        sys.setprofile(before)
