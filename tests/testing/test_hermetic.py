"""The environment of a CLI under test holds what it is given and nothing of the machine's."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from fairlead.testing.hermetic import DUMMY_KEY, hermetic_env, trust

URL = "http://127.0.0.1:1"


def test_the_environment_is_made_from_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a real one")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/elsewhere")
    env = hermetic_env(tmp_path, URL)
    assert env["ANTHROPIC_API_KEY"] == DUMMY_KEY
    assert env["ANTHROPIC_BASE_URL"] == URL
    assert env["HOME"] == str(tmp_path)
    assert set(env) == {
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "CLAUDE_CODE_TMPDIR",
        "DISABLE_AUTOUPDATER",
        "DISABLE_TELEMETRY",
        "HOME",
        "LANG",
        "PATH",
        "TERM",
        "TMPDIR",
    }


def test_variables_can_be_added_and_taken_away(tmp_path: Path) -> None:
    env = hermetic_env(tmp_path, URL, IS_SANDBOX="1", ANTHROPIC_API_KEY=None)
    assert env["IS_SANDBOX"] == "1"
    assert "ANTHROPIC_API_KEY" not in env


def test_temporary_files_go_below_the_home(tmp_path: Path) -> None:
    env = hermetic_env(tmp_path, URL)
    assert Path(env["TMPDIR"]).is_dir()
    assert Path(env["TMPDIR"]).is_relative_to(tmp_path)


@pytest.mark.parametrize("program", ["git", "bash", "node", "sh", "ls"])
def test_the_search_path_has_what_the_tools_need(tmp_path: Path, program: str) -> None:
    assert shutil.which(program, path=hermetic_env(tmp_path, URL)["PATH"])


def test_trust_is_added_to_what_the_home_already_says(tmp_path: Path) -> None:
    config = tmp_path / ".claude.json"
    config.write_text('{"theme": "dark"}')
    trust(tmp_path, Path("/a"), Path("/b"))
    written = json.loads(config.read_text())
    assert written["theme"] == "dark"
    assert written["projects"]["/b"] == {"hasTrustDialogAccepted": True}
    assert os.listdir(tmp_path) == [".claude.json"]
