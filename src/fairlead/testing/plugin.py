"""The pytest plugin: fixtures for an emulated CLI, a real one under a scripted model, a replay.

pytest loads it automatically if Fairlead is installed. Every fixture creates new folders below the
test's temporary folder and leaves no process running.

    def test_my_app(emulated_claude):
        claude = emulated_claude("Hello there")
        assert my_app(cli=claude.executable) == "Hello there"
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fairlead.emulator.state.profile import DEFAULT_VERSION
from fairlead.model_api.api import ModelApi
from fairlead.model_api.script import Step
from fairlead.testing.emulated import EmulatedClaude
from fairlead.testing.replays import write_replay

__all__ = ["ScriptedCli", "emulated_claude", "replayed_claude", "scripted_cli"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedCli:
    """A real CLI, and the model it talks to."""

    executable: Path
    environment: dict[str, str]
    """The whole environment to start it with."""
    project: Path
    model: ModelApi


@pytest.fixture
def emulated_claude(tmp_path: Path) -> Callable[..., EmulatedClaude]:
    """Makes an emulated CLI from a script: text, YAML or scenes; `version=` selects its version."""
    clis: list[EmulatedClaude] = []

    def make(script: Any, *, version: str = DEFAULT_VERSION) -> EmulatedClaude:
        clis.append(EmulatedClaude(tmp_path / f"claude-{len(clis)}", script, version=version))
        return clis[-1]

    return make


@pytest.fixture
def scripted_cli(tmp_path: Path) -> Iterator[Callable[..., ScriptedCli]]:
    """Makes a real CLI under a scripted model: `scripted_cli(reply("hi"), version="2.1.325")`."""
    from fairlead.testing.hermetic import hermetic_env
    from fairlead.testing.real_cli import ensure

    models = ExitStack()
    clis: list[ScriptedCli] = []

    def make(*steps: Step, version: str = DEFAULT_VERSION) -> ScriptedCli:
        model = models.enter_context(ModelApi(steps))
        folder = tmp_path / f"real-{len(clis)}"
        project = folder / "project"
        project.mkdir(parents=True)
        clis.append(
            ScriptedCli(
                executable=ensure(version).executable,
                environment=hermetic_env(folder / "home", model.base_url),
                project=project,
                model=model,
            )
        )
        return clis[-1]

    with models:
        yield make


@pytest.fixture
def replayed_claude(tmp_path: Path) -> Callable[[Path], Path]:
    """Makes a program that plays a recording back in place of `claude`."""

    def make(recording: Path) -> Path:
        return write_replay(tmp_path / "replay" / "claude", recording)

    return make
