"""`fairlead replay FILE`: folds a recording and prints the conversation.

With `--json` the final snapshot is printed instead, as docs/transcript.md describes it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fairlead.commands.console.transcript_text import print_transcript
from fairlead.errors import UsageError
from fairlead.transcript import Transcript
from fairlead.transcript.recording import recorded
from fairlead.wire.json_text import NotJson, parse

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `fairlead replay`."""
    parser.add_argument("file", help="a recording; - reads it from standard input")
    parser.add_argument("--json", action="store_true", help="print the final snapshot as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Fold and print; returns the exit code."""
    transcript = fold(_read(arguments.file), arguments.file)
    if arguments.json:
        sys.stdout.write(transcript.snapshot().json().decode() + "\n")
    else:
        print_transcript(transcript)
    return 0


def fold(text: bytes, name: str) -> Transcript:
    """The transcript of a recording; raises `UsageError` if the text is not a recording."""
    transcript = Transcript()
    for number, line in enumerate(text.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            entry = parse(line)
        except NotJson as problem:
            raise UsageError(f"{name}:{number} is not JSON: {problem}") from None
        if not isinstance(entry, dict) or "dir" not in entry:
            raise UsageError(f"{name}:{number} is not a line of a recording")
        event = recorded(entry)
        if event is not None:
            fed, at = event
            transcript.take((fed,), at)
    return transcript


def _read(name: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as problem:
        raise UsageError(f"cannot read {name!r}: {problem.strerror}") from None
