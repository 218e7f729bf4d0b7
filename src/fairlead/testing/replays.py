"""A recording played back as a `claude`: says what was recorded, when the host says its part.

For bugs that were seen once: keep the recording, and the test meets the same lines again. Lines of
the host are counted, not compared, so that a newer host may say them in other words.
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

__all__ = ["main", "write_replay"]


def write_replay(path: Path, recording: Path) -> Path:
    """Write a program that plays a recording (`{"t", "dir", "line"}` or `{"t", "dir", "msg"}`)."""
    source = Path(__file__).parent.parent.parent
    lines = [
        "#!/bin/sh",
        f'export PYTHONPATH={shlex.quote(str(source))}"${{PYTHONPATH:+:$PYTHONPATH}}"',
        f"exec {shlex.quote(sys.executable)} -m fairlead.testing.replays "
        f'{shlex.quote(str(recording))} "$@"',
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def main(recording: Path) -> int:
    """Play a recording to stdin and stdout; the exit code is the recorded one."""
    ids: dict[str, str] = {}
    for line in recording.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        said = entry.get("line")
        text = said if isinstance(said, str) else json.dumps(entry.get("msg"))
        if entry["dir"] == "out":
            for recorded, theirs in ids.items():
                text = text.replace(recorded, theirs)
            sys.stdout.write(text.rstrip("\n") + "\n")
            sys.stdout.flush()
        elif entry["dir"] == "in":
            heard = sys.stdin.readline()
            if not heard:
                return 0
            _match(text, heard, ids)
        elif entry["dir"] == "end" and isinstance(entry.get("msg"), dict):
            sys.stdin.read()
            return int(entry["msg"].get("rc") or 0)
    sys.stdin.read()
    return 0


def _match(recorded: str, heard: str, ids: dict[str, str]) -> None:
    """A host numbers its requests in its own way; the answers must carry its numbers."""
    try:
        before, now = json.loads(recorded), json.loads(heard)
    except ValueError:
        return
    if not (isinstance(before, dict) and isinstance(now, dict)):
        return
    if before.get("type") == now.get("type") == "control_request":
        ids[str(before.get("request_id"))] = str(now.get("request_id"))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
