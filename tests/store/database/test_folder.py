"""Whose the data folder is."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairlead.store.database.folder import DATABASE, DataFolder, FolderInUse, FolderRefused
from fairlead.store.sqlite import SqliteStore
from tests.store import programs
from tests.store.log_contract import new


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


async def test_S21_a_second_store_is_refused_with_the_process_that_has_the_folder(
    folder: Path,
) -> None:
    holder = programs.start("hold_folder", folder)
    assert holder.stdout is not None
    assert await asyncio.to_thread(holder.stdout.readline) == "claimed\n"
    with pytest.raises(FolderInUse, match=f"in use by process {holder.pid}"):
        await SqliteStore(folder).start()
    holder.send_signal(signal.SIGKILL)
    await asyncio.to_thread(holder.communicate)
    async with SqliteStore(folder) as store:
        assert store.state.ok


async def test_S21_one_process_cannot_open_it_twice_and_may_open_it_again(folder: Path) -> None:
    async with SqliteStore(folder):
        with pytest.raises(FolderInUse):
            await SqliteStore(folder).start()
    async with SqliteStore(folder) as store:
        assert store.state.ok


@pytest.fixture
def careless() -> Iterator[None]:
    """Every file that this process creates is readable by all users."""
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {path.name: mode(path) for path in folder.iterdir()}


@pytest.mark.usefixtures("careless")
async def test_S22_only_the_owner_may_enter(folder: Path) -> None:
    os.mkdir(folder, 0o777)
    os.close(os.open(folder / DATABASE, os.O_CREAT, 0o666))
    async with SqliteStore(folder) as store:
        await store.append("a", new(b"x"))
        assert modes(folder).keys() > {DATABASE, f"{DATABASE}-wal", "lock"}
        assert set(modes(folder).values()) == {0o600}
        assert mode(folder) == 0o700


def lay_link(folder: Path, name: str, elsewhere: Path) -> None:
    """Put a link in place of the folder, or of a file in it."""
    if name:
        folder.mkdir()
        elsewhere.touch()
        (folder / name).symlink_to(elsewhere)
    else:
        elsewhere.mkdir()
        folder.symlink_to(elsewhere)


def is_untouched(elsewhere: Path) -> bool:
    if elsewhere.is_dir():
        return list(elsewhere.iterdir()) == []
    return elsewhere.read_bytes() == b""


@pytest.mark.parametrize("name", ["", "lock", DATABASE])
async def test_S23_a_symbolic_link_is_refused(folder: Path, tmp_path: Path, name: str) -> None:
    lay_link(folder, name, tmp_path / "elsewhere")
    with pytest.raises(FolderRefused, match="is a symbolic link"):
        await SqliteStore(folder).start()
    assert is_untouched(tmp_path / "elsewhere")


def lay_pipe(folder: Path, name: str) -> None:
    folder.mkdir()
    os.mkfifo(folder / name)


@pytest.mark.parametrize("name", ["lock", DATABASE])
async def test_S23_what_is_no_plain_file_is_refused(folder: Path, name: str) -> None:
    lay_pipe(folder, name)
    with pytest.raises(FolderRefused, match="not a plain file"):
        await SqliteStore(folder).start()


async def test_S23_a_refusal_lets_go_of_the_folder(folder: Path) -> None:
    lay_pipe(folder, DATABASE)
    with pytest.raises(FolderRefused):
        await SqliteStore(folder).start()
    os.unlink(folder / DATABASE)
    async with SqliteStore(folder) as store:
        assert store.state.ok


def test_S23_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    foreign = Path("/")
    if os.geteuid() == 0:
        foreign = tmp_path / "foreign"
        foreign.mkdir()
        os.chown(foreign, 65534, 65534)
    with pytest.raises(FolderRefused, match="belongs to another user"):
        DataFolder(foreign).claim()
    assert mode(foreign) != 0o700 or os.stat(foreign).st_uid != os.geteuid()
