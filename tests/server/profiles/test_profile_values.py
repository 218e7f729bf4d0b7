"""What can be a profile, and how profiles are stored."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from fairlead.commands.serving.settings import read_settings
from fairlead.errors import UsageError
from fairlead.server.profiles.profile import Profile
from fairlead.server.profiles.profiles import FILE, Profiles, read_profiles
from fairlead.server.refusal import Refusal
from fairlead.server.trust import TrustBook


@pytest.mark.parametrize(
    "name", ["", "default", "a b", "a/b", "x" * 33, "a\u202eb", "a\u200b", "a\tb", "\x07"]
)
def test_B119_a_name_is_short_and_visible(name: str) -> None:
    with pytest.raises(UsageError, match="name"):
        Profile(name=name, config_dir="/a")
    assert Profile(name="büro-2", config_dir="/a").shown == "büro-2"


@pytest.mark.parametrize("folder", ["", "relative", "~/x", "/a/../b", "/a\n"])
def test_B119_a_folder_is_an_absolute_path(folder: str) -> None:
    with pytest.raises(UsageError, match="absolute path"):
        Profile(name="a", config_dir=folder)


@pytest.mark.parametrize(
    "env", [{"A B": "1"}, {"CLAUDE_CONFIG_DIR": "/x"}, {"CLAUDECODE": "1"}, {"A": "secret\0"}]
)
def test_B119_a_variable_that_cannot_be_set_is_refused_without_its_value(
    env: dict[str, str],
) -> None:
    with pytest.raises(UsageError) as caught:
        Profile(name="a", config_dir="/a", env=env)
    assert "secret" not in str(caught.value)


def test_B119_two_profiles_have_separate_folders(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "one")
    profiles = Profiles(default_folder=str(tmp_path / "default"))
    profiles.put(Profile(name="one", config_dir=str(tmp_path / "one")))
    for folder in ("one", "one/inside", "link", "link/inside", "default/x", "default", ""):
        with pytest.raises(Refusal, match="must not be the same"):
            profiles.put(Profile(name="two", config_dir=str(tmp_path / folder).rstrip("/")))
    profiles.put(Profile(name="two", config_dir=str(tmp_path / "one-more")))


def test_R29_profiles_of_the_app_are_stored_for_the_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / FILE
    (tmp_path / f"{FILE}.part").touch(mode=0o644)
    profiles = Profiles()
    profiles.load(file)
    profiles.put(Profile(name="work", config_dir="/w", env={"TOKEN": "s3cret"}, label="Acme"))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    again = Profiles([Profile(name="mine", config_dir="/m", from_file=True)])
    again.load(file)
    assert [each.name for each in again.all()] == ["mine", "work"]
    work = again.find("work")
    assert work is not None
    assert work.env == {"TOKEN": "s3cret"}
    assert "s3cret" not in repr(work)
    with pytest.raises(Refusal, match=r"serve\.toml"):
        again.remove("mine")
    again.remove("work")
    assert read_profiles(file) == []


def test_R29_a_change_that_cannot_be_stored_is_refused_and_not_used(tmp_path: Path) -> None:
    profiles = Profiles()
    profiles.load(tmp_path / "missing" / FILE)
    with pytest.raises(Refusal, match="Nothing was changed"):
        profiles.put(Profile(name="work", config_dir="/w"))
    assert profiles.all() == ()


@pytest.mark.parametrize("content", ["", "{}", "[1]", '[{"name": "a"}]', "[" * 5_000])
def test_B119_a_damaged_file_has_no_profiles(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE).write_text(content)
    profiles = Profiles()
    profiles.load(tmp_path / FILE)
    assert profiles.all() == ()


def test_B119_serve_toml_defines_profiles(tmp_path: Path) -> None:
    (tmp_path / "serve.toml").write_text(
        '[profiles.work]\nconfig_dir = "~/.claude-work"\nlabel = "Acme Inc."\n'
        'env = { TEAM = "blue" }\npass_env = ["OTEL_*"]\n'
    )
    (work,) = read_settings(tmp_path).profiles
    assert work == Profile(
        name="work", label="Acme Inc.", config_dir=os.path.expanduser("~/.claude-work"),
        env={"TEAM": "blue"}, pass_env=("OTEL_*",), from_file=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "profiles = 1", "[profiles.a]", '[profiles.a]\nconfig_dir = "x"',
        '[profiles.a]\nconfig_dir = "/x"\ncolour = "red"', '[profiles."a b"]\nconfig_dir = "/x"',
        '[profiles.a]\nconfig_dir = "/x"\nenv = { A = 1 }',
        '[profiles.a]\nconfig_dir = "/x"\npass_env = ["A=B"]',
    ],
)  # fmt: skip
def test_B119_a_wrong_profile_in_serve_toml_stops_the_start(tmp_path: Path, text: str) -> None:
    (tmp_path / "serve.toml").write_text(text)
    with pytest.raises(UsageError, match=r"serve\.toml"):
        read_settings(tmp_path)


def test_B118_the_users_own_settings_of_one_profile_are_a_projects_for_another(
    tmp_path: Path,
) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text('{"hooks": {"Stop": [1]}}')
    project = tmp_path / "project"
    project.mkdir()
    book = TrustBook()
    own = {"HOME": str(tmp_path)}
    book.environment = lambda name: {**own, "CLAUDE_CONFIG_DIR": "/w"} if name else own
    book.profiles = lambda: ("", "work")
    assert book.check(str(project)) is None
    with pytest.raises(Refusal) as refused:
        book.check(str(project), "work")
    book.answer(str(project), refused.value.facts["digest"], "trust")
    assert book.check(str(project), "work") == "trust"
    with pytest.raises(Refusal, match="changed"):
        book.answer(str(project), "another digest", "trust")
