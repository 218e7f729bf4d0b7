"""The CLI's files of a session on their way to another machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fairlead.store.cli_files.transfer import (
    UnsafeName,
    folder_name,
    put_file,
    session_paths,
    with_folder,
)

SESSION = "0f0e0d0c-0000-4000-8000-000000000001"


def test_N24_all_files_of_a_session_are_found_and_put_below_the_new_folder(tmp_path: Path) -> None:
    projects = tmp_path / "from"
    below = projects / "-old" / SESSION / "subagents"
    below.mkdir(parents=True)
    (projects / "-old" / f"{SESSION}.jsonl").write_bytes(b"main\n")
    (below / "agent-a.jsonl").write_bytes(b"side\n")
    (below / "link.jsonl").symlink_to("/etc/passwd")
    (projects / "-old" / "other.jsonl").write_bytes(b"other\n")
    found = session_paths(projects, SESSION)
    assert [name for name, _ in found] == [
        f"{SESSION}.jsonl",
        f"{SESSION}/subagents/agent-a.jsonl",
    ]
    target = tmp_path / "to"
    for name, path in found:
        put_file(target, "/home/me/a b", SESSION, name, path.read_bytes())
    folder = target / folder_name("/home/me/a b")
    assert folder.name == "-home-me-a-b"
    assert (folder / SESSION / "subagents" / "agent-a.jsonl").read_bytes() == b"side\n"
    assert (folder / f"{SESSION}.jsonl").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "name",
    [
        "other.jsonl",
        f"../{SESSION}.jsonl",
        f"{SESSION}/../../settings.json",
        f"{SESSION}/.hidden",
        f"{SESSION}/a/b/c/d.jsonl",
        f"/{SESSION}.jsonl",
        "",
    ],
)
def test_N25_only_files_of_the_session_are_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnsafeName):
        put_file(tmp_path, "/w", SESSION, name, b"x")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_N24_records_name_the_new_folder_and_stay_as_they_are_otherwise() -> None:
    lines = [
        json.dumps({"type": "user", "cwd": "/old/repo/sub", "n": 1.5}),
        "no json",
        json.dumps({"type": "user", "message": "cwd /old/repo"}),
        json.dumps({"type": "user", "cwd": "/old/repository"}),
    ]
    made = with_folder("\n".join(lines).encode(), "/old/repo", "/new", "/new/sub").decode()
    first, second, third, fourth = made.splitlines()
    assert json.loads(first) == {"type": "user", "cwd": "/new/sub", "n": 1.5}
    assert (second, third) == (lines[1], lines[2])
    assert json.loads(fourth)["cwd"] == "/new/sub"
