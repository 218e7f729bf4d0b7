"""Profiles for the scripted agent, which stores its sessions in the folder of its profile."""

from __future__ import annotations

import json
import os
import uuid
from pathlib import Path

from fairlead.server.profiles.profile import Profile

__all__ = ["account", "session_file"]


def account(folder: Path, name: str, **more: str) -> Profile:
    """A profile whose agent stores sessions as the CLI does; `more` are further variables."""
    config = folder / f"claude-{name}"
    env = {"AGENT_FILES": str(config / "projects"), **more}
    return Profile(name=name, config_dir=str(config), env=env, from_file=True)


def session_file(projects: Path, words: str, cwd: Path) -> str:
    """A session that a CLI in a terminal stored, not touched for long; gives its id."""
    session, stamp = str(uuid.uuid4()), "2026-01-02T03:04:05.000Z"
    folder = projects / "some-folder"
    folder.mkdir(parents=True, exist_ok=True)
    first, second = str(uuid.uuid4()), str(uuid.uuid4())
    common = {"sessionId": session, "cwd": str(cwd), "version": "2.1.325", "timestamp": stamp}
    usage = {"input_tokens": 7, "output_tokens": 3}
    said = {
        "id": f"msg_{session}", "role": "assistant", "model": "big", "usage": usage,
        "content": [{"type": "text", "text": "an answer"}],
    }  # fmt: skip
    asked = {"role": "user", "content": words}
    lines = [
        {**common, "type": "user", "uuid": first, "parentUuid": None, "message": asked},
        {**common, "type": "assistant", "uuid": second, "parentUuid": first, "message": said},
    ]
    path = folder / f"{session}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    os.utime(path, (1_767_323_045.0, 1_767_323_045.0))
    return session
