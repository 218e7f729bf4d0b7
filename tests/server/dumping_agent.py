"""An agent that writes down how it was started."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.launching import python_launcher

__all__ = ["DUMPER", "dumped", "dumper"]


DUMPER = """
import json, os, sys, uuid
log, *argv = sys.argv[1:]
if "--version" in argv:
    print("2.1.325 (Claude Code)")
    sys.exit()
fds = sorted(int(each) for each in os.listdir("/proc/self/fd"))
with open(log, "a") as out:
    entry = {"argv": argv, "env": dict(os.environ), "cwd": os.getcwd(), "fds": fds, "ppid": os.getppid()}
    out.write(json.dumps(entry) + "\\n")
for line in sys.stdin:
    message = json.loads(line)
    with open(log, "a") as out:
        out.write(json.dumps({"stdin": message}) + "\\n")
    if message["type"] == "control_request":
        body = {"subtype": "success", "request_id": message["request_id"], "response": {"models": [{"value": "m"}]}}
        print(json.dumps({"type": "control_response", "response": body}), flush=True)
"""


def dumper(folder: Path, version: str = "2.1.325") -> Path:
    """A CLI that writes down how it was started."""
    script = folder / "dumper.py"
    script.write_text(DUMPER.replace("2.1.325", version))
    return python_launcher(folder / "claude-dumper", script, folder / "dump.log")


def dumped(folder: Path) -> list[dict[str, Any]]:
    path = folder / "dump.log"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
