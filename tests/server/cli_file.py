"""A session as the CLI keeps it: one question, one answer."""

from __future__ import annotations

import json
import os
import uuid
from pathlib import Path

from tests.server.server_harness import ServerHarness


def cli_file(harness: ServerHarness, cli_id: str, cwd: str) -> Path:
    """A transcript file as a CLI keeps it, not touched for long."""
    folder = harness.projects / "some-folder"
    folder.mkdir(parents=True, exist_ok=True)
    stamp = "2026-01-02T03:04:05.000Z"
    common = {"sessionId": cli_id, "cwd": cwd, "version": "2.1.325", "timestamp": stamp}
    prompt = {"role": "user", "content": "an old question"}
    words = [{"type": "text", "text": "an old answer"}]
    said = {"id": "msg_1", "role": "assistant", "model": "big", "content": words}
    first, second = str(uuid.uuid4()), str(uuid.uuid4())
    lines = [
        {**common, "type": "user", "uuid": first, "parentUuid": None, "message": prompt},
        {**common, "type": "assistant", "uuid": second, "parentUuid": first, "message": said},
    ]
    path = folder / f"{cli_id}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    os.utime(path, (1_000_000.0, 1_000_000.0))
    return path
