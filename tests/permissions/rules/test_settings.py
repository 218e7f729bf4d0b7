"""The CLI's settings files, on a real disk."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from fairlead.errors import OptionError, SettingsError
from fairlead.permissions import (
    AddDirectories,
    AddRules,
    Behavior,
    PermissionUpdate,
    RemoveDirectories,
    RemoveRules,
    ReplaceRules,
    Rule,
    RuleBook,
    RuleValue,
    Scope,
    SetMode,
    SettingsFiles,
    UnknownUpdate,
    apply_update,
    load_settings,
    place_of,
    read_settings,
    rule_values,
    write_update,
)
from tests.permissions.checking import bash, behavior_of, tool


def files_in(folder: Path) -> SettingsFiles:
    (folder / "project").mkdir(exist_ok=True)
    (folder / "home").mkdir(exist_ok=True)
    standard = SettingsFiles.standard(str(folder / "project"), str(folder / "home"))
    return SettingsFiles(paths={**standard.paths, Scope.POLICY: str(folder / "managed.json")})


def add(text: str, destination: Scope = Scope.LOCAL, behavior: str = "allow") -> AddRules:
    rules = rule_values([Rule.parse(text)])
    return AddRules(rules=rules, behavior=behavior, destination=destination.value)


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("indent", [2, 4, "\t"])
def test_P37_unknown_keys_their_order_and_the_indentation_stay(
    tmp_path: Path, indent: int | str
) -> None:
    files = files_in(tmp_path)
    before = {
        "zeta": {"b": 1, "a": [1.5, None, "é"]},
        "permissions": {"deny": ["Bash(rm:*)"], "newKey": True, "allow": ["Bash(ls)"]},
        "alpha": 12345678901234567890,
    }
    path = written(
        Path(files.paths[Scope.LOCAL]),
        json.dumps(before, indent=indent, ensure_ascii=False) + "\n",
    )
    assert write_update(files, add("Bash(npm:*)")) == str(path)
    before["permissions"]["allow"] = ["Bash(ls)", "Bash(npm:*)"]  # type: ignore[index]
    assert path.read_text() == json.dumps(before, indent=indent, ensure_ascii=False) + "\n"


def test_P37_a_new_file_looks_as_the_cli_writes_it(tmp_path: Path) -> None:
    """rec 2.1.38/perm_suggest_local."""
    files = files_in(tmp_path)
    write_update(files, add("Bash(npm --version)"))
    assert Path(files.paths[Scope.LOCAL]).read_text() == (
        '{\n  "permissions": {\n    "allow": [\n      "Bash(npm --version)"\n    ]\n  }\n}\n'
    )


def test_P37_a_change_that_changes_nothing_does_not_touch_the_file(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    odd = '{"permissions":{"allow":["Bash(ls)"]}}'
    path = written(Path(files.paths[Scope.LOCAL]), odd)
    write_update(files, add("Bash(ls)"))
    assert path.read_text() == odd


@pytest.mark.parametrize(
    ("text", "part_of_the_reason"),
    [
        ('{"permissions": {"allow": [', "not valid JSON"),
        ('{\n  // mine\n  "permissions": {}\n}', "reads no comments"),
        ('{"a": 1, "a": 2}', "occurs twice"),
        ("[1]", "not hold a JSON object"),
        ('{"permissions": []}', "not an object"),
        ('{"permissions": {"allow": "Bash"}}', "not a list of texts"),
        ('{"permissions": {"allow": [5]}}', "not a list of texts"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_P38_a_broken_file_is_an_error_and_stays_as_it_is(
    tmp_path: Path, text: str, part_of_the_reason: str
) -> None:
    files = files_in(tmp_path)
    path = written(Path(files.paths[Scope.LOCAL]), text)
    with pytest.raises(SettingsError, match=part_of_the_reason) as raised:
        write_update(files, add("Bash(ls)"))
    assert str(path) in str(raised.value)
    assert path.read_text() == text
    with pytest.raises(SettingsError):
        load_settings(files)


def test_P38_bytes_that_are_not_text_are_an_error(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    path = written(Path(files.paths[Scope.USER]), "")
    path.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings(files)
    assert path.read_bytes() == b'{"a": "\xff"}'


@pytest.mark.parametrize("text", ["", "  \n", "\ufeff{}"])
def test_P38_an_empty_file_is_not_broken(tmp_path: Path, text: str) -> None:
    files = files_in(tmp_path)
    path = written(Path(files.paths[Scope.LOCAL]), text)
    write_update(files, add("Bash(ls)"))
    assert read_settings(str(path)) == {"permissions": {"allow": ["Bash(ls)"]}}
    assert path.read_text().startswith("\ufeff") is text.startswith("\ufeff")


def test_P38_a_rule_that_would_spoil_the_file_for_the_cli_is_refused(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    with pytest.raises(SettingsError, match="at the very end"):
        write_update(files, add("Bash(go:*x)"))
    assert not Path(files.paths[Scope.LOCAL]).exists()


def test_P38_a_behavior_that_no_cli_knows_writes_no_key(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    with pytest.raises(OptionError, match="is not one of allow, deny, ask"):
        write_update(files, add("Bash(ls)", behavior="defaultMode"))
    assert not Path(files.paths[Scope.LOCAL]).exists()


@pytest.mark.parametrize("scope", [Scope.POLICY, Scope.FLAG])
def test_P39_policy_and_flag_settings_are_never_written(tmp_path: Path, scope: Scope) -> None:
    files = SettingsFiles(paths={scope: str(written(tmp_path / "given.json", "{}"))})
    with pytest.raises(OptionError):
        write_update(files, add("Bash(ls)", scope))
    with pytest.raises(OptionError):
        apply_update(RuleBook(), add("Bash(ls)", scope))
    assert (tmp_path / "given.json").read_text() == "{}"


def test_P39_policy_and_flag_settings_are_read(tmp_path: Path) -> None:
    policy = written(tmp_path / "p.json", '{"permissions": {"deny": ["Bash(npm:*)"]}}')
    flag = written(tmp_path / "f.json", '{"permissions": {"allow": ["Bash"]}}')
    files = SettingsFiles(paths={Scope.POLICY: str(policy), Scope.FLAG: str(flag)})
    book = load_settings(files)
    assert {entry.scope for entry in book.rules} == {Scope.POLICY, Scope.FLAG}
    assert behavior_of("npm x", book) is Behavior.DENY
    assert behavior_of("foo", book) is Behavior.ALLOW


def test_P40_mode_bits_and_symlinks_stay_and_nothing_is_left_over(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    real = written(tmp_path / "dotfiles" / "settings.json", "{}")
    real.chmod(0o600)
    link = Path(files.paths[Scope.USER])
    link.parent.mkdir(parents=True)
    link.symlink_to(real)
    write_update(files, add("Bash(ls)", Scope.USER))
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o600
    assert os.listdir(real.parent) == ["settings.json"]
    assert "Bash(ls)" in real.read_text()


def test_P40_a_reader_never_sees_a_torn_file(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    write_update(files, add("Bash(first)"))
    path = files.paths[Scope.LOCAL]
    done = threading.Event()
    problems: list[str] = []

    def watch() -> None:
        while not done.is_set():
            try:
                read_settings(path)
            except SettingsError as error:
                problems.append(str(error))

    watcher = threading.Thread(target=watch)
    watcher.start()
    for number in range(60):
        write_update(files, add(f"Bash(command {number})"))
    done.set()
    watcher.join(timeout=10)
    assert problems == []
    assert len(read_settings(path)["permissions"]["allow"]) == 61


def test_P40_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    blocker = written(tmp_path / "file", "")
    files = SettingsFiles(paths={Scope.LOCAL: str(blocker / "settings.json")})
    with pytest.raises((SettingsError, NotADirectoryError)):
        write_update(files, add("Bash(ls)"))
    assert blocker.read_text() == ""


UPDATES: list[PermissionUpdate] = [
    add("Bash(npm:*)"),
    add("Bash(npm:*)"),
    AddRules(
        rules=(RuleValue("Bash", "rm:*"), RuleValue("Read")),
        behavior="deny",
        destination="localSettings",
    ),
    RemoveRules(rules=(RuleValue("Read"),), behavior="deny", destination="localSettings"),
    ReplaceRules(rules=(RuleValue("Bash", "make"),), behavior="allow", destination="localSettings"),
    SetMode(mode="acceptEdits", destination="localSettings"),
    AddDirectories(directories=("/a", "/b"), destination="localSettings"),
    RemoveDirectories(directories=("/a",), destination="localSettings"),
]  # fmt: skip


def test_P41_a_file_and_a_book_change_alike(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    book = RuleBook()
    for update in UPDATES:
        write_update(files, update)
        book = apply_update(book, update, files.paths)
        loaded = load_settings(files)
        assert set(loaded.rules) == set(book.rules)
        assert loaded.directories == book.directories
        assert loaded.mode is book.mode
    assert {str(entry.rule) for entry in book.rules} == {"Bash(make)", "Bash(rm:*)"}


def test_P41_what_is_for_the_session_is_not_written(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    assert write_update(files, add("Bash(ls)", Scope.SESSION)) is None
    assert write_update(files, UnknownUpdate("new", {"type": "new"})) is None
    assert load_settings(files) == RuleBook()


def test_a_real_place_resolves_real_symlinks(tmp_path: Path) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    project.mkdir()
    outside.mkdir()
    written(outside / "x.txt", "x")
    (project / "link").symlink_to(outside)
    at = place_of(str(project), str(tmp_path))
    assert at.is_directory(str(outside))
    assert behavior_of(tool("Read", file_path=str(project / "link/x.txt")), at=at) is Behavior.ASK
    assert behavior_of(bash("cat link/x.txt"), at=at) is Behavior.ASK
    assert behavior_of(bash("ls"), at=at) is Behavior.ALLOW
