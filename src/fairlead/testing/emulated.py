"""A `claude` for a test: the emulator with a script of the test, as an executable file.

It has its own home, project and temporary folder, and reads no files of the user. Pass
`executable` to the code that starts the CLI (an SDK's path option, `--agent`, a PATH).
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fairlead.emulator.process.launcher import write_launcher
from fairlead.emulator.script.scenario import load, load_text, read_yaml
from fairlead.emulator.script.schema import SCRIPT
from fairlead.emulator.state.profile import DEFAULT_VERSION, profile_of
from fairlead.errors import UsageError

__all__ = ["EmulatedClaude"]

WAIT_S = 30.0
"""The timeout of `run`."""

PROTOCOL_FLAGS = (
    "--output-format",
    "stream-json",
    "--input-format",
    "stream-json",
    "--verbose",
    "--permission-prompt-tool",
    "stdio",
)


class EmulatedClaude:
    """An emulated CLI with its folders."""

    def __init__(self, root: Path, script: Any, *, version: str = DEFAULT_VERSION) -> None:
        profile_of(version)
        self.root = root
        self.home = root / "home"
        self.project = root / "project"
        self.version = version
        for folder in (self.home, self.project, root / "tmp"):
            folder.mkdir(parents=True, exist_ok=True)
        self._script = root / "script.json"
        self.play(script)
        self.executable = write_launcher(root / "bin" / "claude", self.environment)

    @property
    def environment(self) -> dict[str, str]:
        """The environment that the launcher sets for the emulator."""
        return {
            "HOME": str(self.home),
            "TMPDIR": str(self.root / "tmp"),
            "CLAUDE_CONFIG_DIR": str(self.home / ".claude"),
            "FAIRLEAD_EMULATE": self.version,
            "FAIRLEAD_SCRIPT": str(self._script),
        }

    def play(self, script: Any) -> None:
        """Change the script for processes that start from now on.

        It is YAML text, a list of scenes, a mapping, or a text that the model always answers with.
        """
        data = _as_data(script)
        if isinstance(script, str) and not _is_sentence(script):
            load_text(script)  # its errors name the line
        load(data)
        self._script.write_text(json.dumps(data), encoding="utf-8")

    def run(
        self, *inputs: str | Mapping[str, Any], flags: Sequence[str] = (), timeout: float = WAIT_S
    ) -> list[dict[str, Any]]:
        """Start it, write prompts or whole lines, close stdin; returns the lines that it wrote."""
        lines = "".join(json.dumps(_as_line(entry)) + "\n" for entry in inputs)
        completed = subprocess.run(
            [str(self.executable), *PROTOCOL_FLAGS, *flags],
            input=lines,
            capture_output=True,
            text=True,
            cwd=self.project,
            timeout=timeout,
            check=False,
        )
        return [json.loads(line) for line in completed.stdout.splitlines()]

    def transcripts(self) -> list[Path]:
        """The session files it has written."""
        return sorted((self.home / ".claude" / "projects").rglob("*.jsonl"))


def _as_data(script: Any) -> Any:
    if isinstance(script, str):
        return [{"steps": [{"say": script}]}] if _is_sentence(script) else read_yaml(script)
    if isinstance(script, Mapping):
        return dict(script)
    if isinstance(script, Iterable):
        return list(script)
    raise UsageError(f"a script is YAML, a list of scenes or a text, not {script!r}")


def _is_sentence(script: str) -> bool:
    """Whether a script is plain text for the model to say, and not YAML."""
    keys = tuple(f"{key}:" for key in SCRIPT)
    return not script.strip().startswith(("-", "{", "[", "#", *keys))


def _as_line(entry: str | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(entry, str):
        return {"type": "user", "message": {"role": "user", "content": entry}}
    return dict(entry)
