"""The list of a session's files, and the search in them (docs/git.md)."""

from __future__ import annotations

import json
import os
import platform
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from fairlead.server.limits import Limits
from fairlead.server.working_files import id_of
from fairlead.testing.real_cli import cache_folder, ensure
from tests.git.hostile import ATTACKS
from tests.git.repositories import new_repository
from tests.server.conftest import Served, serving

FILES = {
    "src/app.py": "first\nNeedle here\nneedle there\n",
    "ignored.log": "needle\n",
    "späth/a b.txt": "a needle\r\n",
    ".hidden": "needle\n",
}


def project(folder: Path) -> Path:
    new_repository(folder, {".gitignore": "*.log\n", "kept": "x\n"})
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode())
    (folder / "binary").write_bytes(b"\0needle\n")
    (folder / "outside").symlink_to("/etc/passwd")
    return folder


async def get(served: Served, session: str, what: str, role: str = "operator", **query: str) -> Any:
    status, body, _ = await served.http(
        f"/api/sessions/{session}/{what}?{urlencode(query)}",
        Authorization=f"Bearer {await served.token(role)}",
    )
    return json.loads(body) if status == 200 else status


def places(answer: Any) -> set[tuple[str, int]]:
    return {(match["path"], match["line"]) for match in answer["matches"]}


EXPECTED = {("src/app.py", 2), ("src/app.py", 3), ("späth/a b.txt", 1), (".hidden", 1)}


@pytest.fixture
def ripgrep() -> Path:
    """The ripgrep that the real CLI 2.1.38 brings along."""
    ensure("2.1.38")
    (program,) = (cache_folder() / "2.1.38").rglob(f"{_vendor()}/rg")
    return program


def _vendor() -> str:
    machine = {"x86_64": "x64", "aarch64": "arm64", "arm64": "arm64"}[platform.machine()]
    return f"{machine}-{platform.system().lower()}"


def path_with(folder: Path, *programs: str | Path) -> str:
    """A PATH that has only these programs."""
    folder.mkdir()
    for program in programs:
        found = shutil.which(program) if isinstance(program, str) else program
        assert found is not None
        (folder / Path(found).name).symlink_to(found)
    return str(folder)


async def test_G21_the_files_are_listed_without_ignored_ones(served: Served) -> None:
    project(served.project)
    session = await (await served.client()).new_session("hi")
    answer = await get(served, session, "files")
    assert set(answer["files"]) >= {"src/app.py", "kept", ".gitignore", "späth/a b.txt"}
    assert "ignored.log" not in answer["files"]
    assert not any(name.startswith(".git/") for name in answer["files"])
    assert answer["folder"] == str(served.project)
    for role in ("viewer", "approver"):
        assert await get(served, session, "files", role) == 403
        assert await get(served, session, "grep", role, q="x") == 403
    assert await get(served, "nobody", "files") == 404


async def test_G21_names_with_control_characters_are_listed_and_read(served: Served) -> None:
    names = ["new\nline.txt", "\x1b[31mred.txt", "tab\there", "\u202egpj.exe", "-rf"]
    for name in names:
        (served.project / name).write_text(f"in {name!r}\n")
    (served.project / os.fsdecode(b"not-\xff-text")).write_text("x\n")
    session = await (await served.client()).new_session("hi")
    answer = await get(served, session, "files")
    assert {*names} <= {*answer["files"]}
    assert not any(name.startswith("not-") for name in answer["files"])
    for name in names:
        shown = await get(served, session, "content", file=id_of(name), tree="folder")
        assert shown["lines"] == [f"in {name!r}"]


@pytest.mark.parametrize("how", ["ripgrep", "walk"])
async def test_G22_a_text_is_found_by_ripgrep_and_by_reading_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ripgrep: Path, how: str
) -> None:
    programs: dict[str, tuple[str | Path, ...]] = {
        "ripgrep": ("git", "sh", "env", ripgrep),
        "walk": ("git", "sh", "env"),
    }
    async with serving(tmp_path, Limits()) as served:
        project(served.project)
        session = await (await served.client()).new_session("hi")
        monkeypatch.setenv("PATH", path_with(tmp_path / "bin", *programs[how]))
        answer = await get(served, session, "grep", q="needle")
        assert answer["by"] == how
        assert places(answer) == EXPECTED
        assert answer["whole"]
        exact = await get(served, session, "grep", q="Needle")
        assert places(exact) == {("src/app.py", 2)}
        (match,) = exact["matches"]
        assert match["text"] == "Needle here"
        assert (await get(served, session, "grep", q="root:"))["matches"] == []
        assert (await get(served, session, "grep", q="--help"))["matches"] == []
        assert (await get(served, session, "grep", q=".*"))["matches"] == []
        for wrong in ("", "x" * 201, "a\nb", "a\0b"):
            assert await get(served, session, "grep", q=wrong) == 400


@pytest.mark.matrix(target="faults", cases=1)
@pytest.mark.parametrize("how", ["ripgrep", "walk"])
async def test_G23_searching_hostile_repositories_runs_nothing_and_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ripgrep: Path, how: str
) -> None:
    if how == "ripgrep":
        programs = path_with(tmp_path / "bin", ripgrep)
        monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    for number, attack in enumerate(ATTACKS):
        folder = tmp_path / str(number)
        folder.mkdir()
        async with serving(folder, Limits()) as served:
            new_repository(served.project)
            marks = folder / "marks"
            marks.mkdir()
            attack.prepare(served.project, f"touch {marks}/ran")
            for left in marks.iterdir():
                left.unlink()
            (served.project / "plain").write_text("needle\n")
            (served.project / "new\nline\x1b[31m").write_text("needle\n")
            os.mkfifo(served.project / "pipe")
            with (served.project / "huge").open("wb") as file:
                file.truncate(500 * 1024 * 1024)
            session = await (await served.client()).new_session("hi")
            answer = await get(served, session, "grep", q="needle")
            assert list(marks.iterdir()) == [], attack.name
            found = {match["path"] for match in answer["matches"]}
            assert found == {"plain", "new\nline\x1b[31m"}, attack.name
            await get(served, session, "files")
            assert list(marks.iterdir()) == [], attack.name


async def test_G23_a_tree_of_very_many_files_is_listed_in_part(
    served: Served,
) -> None:
    new_repository(served.project)
    for folder in range(60):
        path = served.project / f"part{folder}"
        path.mkdir()
        for number in range(400):
            os.close(os.open(path / f"{number}.txt", os.O_CREAT | os.O_WRONLY))
    session = await (await served.client()).new_session("hi")
    answer = await get(served, session, "files")
    assert not answer["whole"]
    assert len(answer["files"]) <= 20_000
