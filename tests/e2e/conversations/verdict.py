"""The outcome of one host script on one version."""

from __future__ import annotations

from dataclasses import dataclass

from tests.e2e.conversations.host_script import HostScript

__all__ = ["Verdict"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether the emulator wrote what the real CLI wrote."""

    script: HostScript
    version: str
    is_equal: bool
    diff: str = ""
    """What differs, as `comparison.difference` shows it."""
