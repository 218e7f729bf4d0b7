"""`fairlead emulate …`: replaces `claude`, with the same flags, and needs no account.

All further arguments are passed to the emulator. The script comes from FAIRLEAD_SCRIPT
(default: the tour), the version from FAIRLEAD_EMULATE.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

__all__ = ["add_arguments", "emulate", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Accept the flags of the CLI, which the emulator parses."""
    parser.add_argument("flags", nargs="*", help="the flags of `claude`")


def run(arguments: argparse.Namespace) -> int:
    """Run the emulator; returns the exit code."""
    return emulate(arguments.flags)


def emulate(flags: Sequence[str]) -> int:
    """Run the emulator with these flags; returns the exit code."""
    from fairlead.emulator.process.program import main

    return main(flags)
