"""The end of children: no thread for each of them, and one scan of /proc for many of them."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fairlead.host.process.process import Graces, Process

COUNT = 12
QUICK = Graces(after_eof=5.0, after_term=5.0, after_kill=5.0)
UNTIL_EOF = (sys.executable, "-ISc", "import sys; sys.stdin.read(); sys.exit(7)")

pytestmark = pytest.mark.timeout(120)


async def start(tmp_path: Path, number: int) -> Process:
    process = Process(on_stdout=lambda chunk: None)
    mark = f"exit-watch-{os.getpid()}-{number}"
    await process.start(UNTIL_EOF, cwd=str(tmp_path), env={}, mark=mark)
    return process


@pytest.fixture
async def processes(tmp_path: Path) -> AsyncIterator[list[Process]]:
    running = [await start(tmp_path, number) for number in range(COUNT)]
    yield running
    await asyncio.gather(*(process.close(QUICK) for process in running))


async def test_children_take_no_thread_each(processes: list[Process]) -> None:
    assert [t.name for t in threading.enumerate() if t.name == "fairlead-wait"] == []
    assert await asyncio.gather(*(process.close(QUICK) for process in processes)) == [7] * COUNT


async def test_the_exit_code_is_reported_without_a_pidfd_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(pid: int) -> int:
        raise OSError("no pidfd here")

    monkeypatch.setattr(os, "pidfd_open", refuse, raising=False)
    process = await start(tmp_path, COUNT)
    assert await process.close(QUICK) == 7


async def test_many_children_that_end_together_share_scans_of_proc(
    processes: list[Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    scans: list[str] = []
    list_folder = os.listdir

    def counted(path: str) -> list[str]:
        scans.append(path)
        return list_folder(path)

    monkeypatch.setattr(os, "listdir", counted)
    await asyncio.gather(*(process.close(QUICK) for process in processes))
    # A sweep looks twice. The first child to end begins one; most others share the next.
    assert 2 <= scans.count("/proc") < 2 * COUNT
