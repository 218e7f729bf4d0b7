"""Installs the official SDKs for the tests, once: `python -m tests.emulator.sdks.install`.

Tests run without a network, so this comes before them. The installer and the pins are the
benchmark's.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bench.peers import CONTENDERS

__all__ = ["PEERS", "SDKS"]

PEERS = Path(__file__).parent.parent.parent.parent / "bench" / "out"
SDKS = ("python-sdk", "typescript-sdk")


def main() -> None:
    """Install both SDKs."""
    for name in SDKS:
        CONTENDERS[name](PEERS, _say)


def _say(words: str) -> None:
    sys.stderr.write(f"{words}\n")


if __name__ == "__main__":
    main()
