"""The heap of a server's process: one for all threads, and its free pages go back to the system."""

from __future__ import annotations

import platform
import subprocess
import sys

HEAPS = """
import ctypes, threading
from fairlead.server.memory.heap import share_heap
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
shared = share_heap()
filled, over = threading.Barrier(9), threading.Event()

def fill():
    kept = [bytes(10_000) for _ in range(100)]
    filled.wait()
    over.wait()

threads = [threading.Thread(target=fill) for _ in range(8)]
for thread in threads:
    thread.start()
filled.wait()
file = ctypes.c_void_p(libc.fopen(b"/dev/stdout", b"w"))
libc.malloc_info(0, file)
libc.fclose(file)
over.set()
print(shared)
"""

RETURNED = """
import asyncio, os
from fairlead.server.memory.gc_tuning import MOST_RETIRED, sweep_forever
MIB = 1024 * 1024

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / MIB

async def main():
    blocks = [bytes(20_000) for _ in range(5_000)]
    full = resident()
    blocks = blocks[::10]  # They are spread over the whole heap, so glibc returns nothing.
    held, retired = resident(), 0
    sweeping = asyncio.create_task(sweep_forever(lambda: True, lambda: retired, every_s=0.01))
    await asyncio.sleep(0)
    assert resident() > held - 10, "returned before sessions ended"
    retired = MOST_RETIRED
    async with asyncio.timeout(30):
        while resident() > held - 40:
            await asyncio.sleep(0.01)
    print(full - held < 10, len(blocks))

asyncio.run(main())
"""


def output(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


def test_B134_all_threads_use_one_heap() -> None:
    if platform.libc_ver()[0] != "glibc":
        return  # Other allocators have no such heaps.
    printed = output(HEAPS)
    assert printed.splitlines()[-1] == "True"
    assert printed.count("<heap nr=") == 1


def test_B134_memory_of_ended_sessions_is_returned_to_the_system() -> None:
    if platform.libc_ver()[0] != "glibc":
        return
    assert output(RETURNED).split() == ["True", "500"]
