"""Pipes of children are closed once: another thread may have got the number of a closed descriptor."""

from __future__ import annotations

import gc
import io
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from fairlead.host.process.process import Graces, Process

ROOT = Path(__file__).parents[3]

# libuv ends a process that closes a closed descriptor, so this runs in a program of its own.
PROGRAM = """
import asyncio, os, sys, threading
import uvloop
from fairlead.host.process.pipe_ends import PipeEnd

closed_by_others = []
done = threading.Event()

def open_and_close():
    while not done.is_set():
        folder = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fstat(folder)
            os.close(folder)
        except OSError as problem:
            closed_by_others.append(problem)

async def pipes(count):
    loop = asyncio.get_running_loop()
    for _ in range(count):
        read, write = os.pipe()
        end = PipeEnd(loop, os.fdopen(read, "rb", 0))
        transport, _ = await loop.connect_read_pipe(asyncio.Protocol, end)
        transport.close()
        os.close(write)
        await asyncio.sleep(0)

run = uvloop.run if sys.argv[1] == "uvloop" else asyncio.run
threads = [threading.Thread(target=open_and_close) for _ in range(3)]
for thread in threads:
    thread.start()
before = len(os.listdir("/proc/self/fd"))
try:
    run(pipes(int(sys.argv[2])))
finally:
    done.set()
    for thread in threads:
        thread.join()
left = len(os.listdir("/proc/self/fd"))
print(len(closed_by_others), left - before < 20)
"""


@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
def test_C52_no_descriptor_of_another_thread_is_closed(loop: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, loop, "5000"],
        capture_output=True, text=True, timeout=120, check=False, cwd=ROOT,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (0, "0 True\n"), ran.stderr


async def test_C52_no_file_object_shares_a_pipe_with_a_transport(tmp_path: Path) -> None:
    process = Process(on_stdout=lambda _: None)
    await process.start(("/bin/cat",), cwd=str(tmp_path), env={}, mark=os.urandom(8).hex())
    files = [file for file in gc.get_objects() if isinstance(file, io.FileIO) and not file.closed]
    pipes = [file for file in files if stat.S_ISFIFO(os.fstat(file.fileno()).st_mode)]
    ours = {os.stat(f"/proc/{process.pid}/fd/{number}").st_ino for number in range(3)}
    shared = [file for file in pipes if os.fstat(file.fileno()).st_ino in ours]
    assert await process.close(Graces()) == 0
    assert shared == []
