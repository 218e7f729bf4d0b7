"""A program in place of the CLI that writes a prepared file as fast as its reader reads it.

    python flood.py FILE [whatever a host puts on a CLI's command line]

It says a version, answers every control request, and at the first prompt writes FILE in large
blocks. It knows nothing of what is in the file. Runs by itself, without the packages around it.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

__all__ = ["VERSION"]

VERSION = "2.1.325"
"""The CLI whose shapes `traffic` writes."""

BLOCK_BYTES = 1024 * 1024
"""The size of one write; the pipe accepts as much of it as it has room for."""


def main() -> None:
    """Play the CLI until stdin ends."""
    traffic, *arguments = sys.argv[1:]
    if "--version" in arguments or "-v" in arguments:
        sys.stdout.write(f"{VERSION} (Claude Code)\n")
        return
    to_pour = Path(traffic).read_bytes()
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message["type"] == "control_request":
            write(answer(message))
        elif message["type"] == "user":
            write(to_pour)
            to_pour = b""


def answer(request: dict[str, object]) -> bytes:
    """The successful answer to a control request."""
    body = {"subtype": "success", "request_id": request["request_id"], "response": {}}
    return json.dumps({"type": "control_response", "response": body}).encode() + b"\n"


def write(data: bytes) -> None:
    """Write all of it to stdout."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(sys.stdout.fileno(), rest[:BLOCK_BYTES]) :]


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.exit(1)  # The reader is gone; it has its own reasons.
