"""`fairlead emulate …`: stands in for `claude`, with the same flags, and needs no account.

Everything after the word goes to the emulator as it is. The script comes from FAIRLEAD_SCRIPT
(default: the tour), the version from FAIRLEAD_EMULATE.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

__all__ = ["add_arguments", "emulate", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags are the CLI's and are not read here."""
    parser.add_argument("flags", nargs="*", help="the flags of `claude`")


def run(arguments: argparse.Namespace) -> int:
    """Be the CLI."""
    return emulate(arguments.flags)


def emulate(flags: Sequence[str]) -> int:
    """Be the CLI with these flags."""
    from fairlead.emulator.program import main

    return main(flags)
