"""Where a CLI keeps its settings, by its environment."""

from __future__ import annotations

import pytest

from fairlead.errors import OptionError
from fairlead.host.options.environment import child_environment
from fairlead.host.options.options import Options
from fairlead.permissions.model.scopes import Scope
from fairlead.permissions.rules.settings import SettingsFiles, place_of
from fairlead.wire.config_folder import config_folder, projects_folder, state_file


@pytest.mark.parametrize(
    ("environment", "config", "state"),
    [
        ({"HOME": "/home/me"}, "/home/me/.claude", "/home/me/.claude.json"),
        ({}, "/fallback/.claude", "/fallback/.claude.json"),
        ({"HOME": "/home/me", "CLAUDE_CONFIG_DIR": "/c"}, "/c", "/c/.claude.json"),
        ({"CLAUDE_CONFIG_DIR": "/c/d"}, "/c/d", "/c/d/.claude.json"),
        ({"HOME": "/h", "CLAUDE_CONFIG_DIR": ""}, "/h/.claude", "/h/.claude.json"),
        ({"HOME": "/h", "CLAUDE_CONFIG_DIR": " "}, "/h/.claude", "/h/.claude.json"),
    ],
)
def test_B44_the_environment_decides_the_folder(
    environment: dict[str, str], config: str, state: str
) -> None:
    assert config_folder(environment, "/fallback") == config
    assert projects_folder(environment, "/fallback") == f"{config}/projects"
    assert state_file(environment, "/fallback") == state


def test_B44_a_relative_folder_is_refused_with_a_remedy() -> None:
    with pytest.raises(OptionError, match="absolute path"):
        config_folder({"HOME": "/h", "CLAUDE_CONFIG_DIR": "settings"})


def test_B44_an_empty_variable_never_reaches_the_cli() -> None:
    parent = {"HOME": "/h", "CLAUDE_CONFIG_DIR": ""}
    assert "CLAUDE_CONFIG_DIR" not in child_environment(parent, Options())
    parent["CLAUDE_CONFIG_DIR"] = "/c"
    assert child_environment(parent, Options())["CLAUDE_CONFIG_DIR"] == "/c"


def test_B44_the_settings_of_the_user_and_the_root_of_their_rules_follow() -> None:
    files = SettingsFiles.standard("/project", "/h", config="/c")
    assert files.paths[Scope.USER] == "/c/settings.json"
    assert files.paths[Scope.PROJECT] == "/project/.claude/settings.json"
    assert place_of("/project", "/h", config="/c").config_folder == "/c"
    assert place_of("/project", "/h").config_folder == "/h/.claude"
