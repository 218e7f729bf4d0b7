"""The golden files of the transcript: tests/golden/transcript/VERSION/NAME.{snapshot,changes}.json.

A snapshot file is the last snapshot of a recording. A changes file is a list of
`{"seq", "at", "changes"}`, one for each value that was fed and changed something; applied to the
empty snapshot (`empty.snapshot.json`) they give the snapshot file. All recordings have a snapshot
file, those of `WITH_CHANGES` a changes file too. docs/transcript.md has the format for clients.

`python -m tests.transcript.golden` writes them anew; read the difference before you keep it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from fairlead.transcript import Transcript
from tests.transcript.recordings import RECORDINGS, TESTS, plain, stream

__all__ = ["EMPTY", "FOLDER", "WITH_CHANGES", "bless", "expected", "names", "written"]

FOLDER = TESTS / "golden" / "transcript"
EMPTY = FOLDER / "empty.snapshot.json"

WITH_CHANGES = (
    "ask", "err_max_tokens", "err_retry", "hooks_settings", "image", "interrupt_permission",
    "interrupt_stream", "mcp_sdk_flag", "parallel", "partial", "perm_deny", "perm_parallel_reads",
    "plan_exit", "queue", "queue_interrupt", "queue_tool", "resume_pending_permission",
    "slash_local", "subagent", "subagent_bg", "thinking", "tools_files", "tools_tasks",
    "unknown_request",
)  # fmt: skip
"""One recording for each thing that can happen; together they use every operation."""


def names() -> list[str]:
    """Every recording, `2.1.38/ask`."""
    return sorted(f"{path.parent.name}/{path.stem}" for path in RECORDINGS.glob("*/*.ndjson"))


def written(name: str) -> dict[str, Any]:
    """The golden files of a recording, by their ending."""
    endings = ("snapshot", "changes")
    paths = {ending: FOLDER / f"{name}.{ending}.json" for ending in endings}
    return {ending: json.loads(path.read_text()) for ending, path in paths.items() if path.exists()}


def expected(name: str) -> dict[str, Any]:
    """What they must hold."""
    transcript = Transcript()
    batches = []
    for seq, (fed, at) in enumerate(stream(name), 1):
        changes = transcript.feed(fed, at)
        if changes:
            plain_changes = json.loads(msgspec.json.encode(changes))
            batches.append({"seq": seq, "at": at, "changes": plain_changes})
    files: dict[str, Any] = {"snapshot": plain(transcript)}
    if name.split("/")[1] in WITH_CHANGES:
        files["changes"] = batches
    return files


def bless() -> None:
    """Write all of them, and remove those without a recording."""
    keep = {EMPTY}
    _write(EMPTY, _snapshot_lines(plain(Transcript())))
    for name in names():
        files = expected(name)
        for ending, value in files.items():
            path = FOLDER / f"{name}.{ending}.json"
            lines = _snapshot_lines(value) if ending == "snapshot" else _rows(value, "")
            _write(path, lines)
            keep.add(path)
    for path in FOLDER.rglob("*.json"):
        if path not in keep:
            path.unlink()


def _write(path: Path, lines: Iterator[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


def _snapshot_lines(snapshot: dict[str, Any]) -> Iterator[str]:
    """One line for each row, so that a difference can be read."""
    yield "{"
    for number, (section, value) in enumerate(snapshot.items(), 1):
        comma = "," if number < len(snapshot) else ""
        if isinstance(value, list) and value:
            yield f'"{section}": ['
            yield from _rows(value, "", outer=False)
            yield f"]{comma}"
        else:
            yield f'"{section}": {_compact(value)}{comma}'
    yield "}"


def _rows(values: list[Any], end: str, *, outer: bool = True) -> Iterator[str]:
    if outer:
        yield "["
    for number, value in enumerate(values, 1):
        yield _compact(value) + ("," if number < len(values) else end)
    if outer:
        yield "]"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    bless()
