"""The nats-server that a gateway runs."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fairlead.errors import UsageError
from fairlead.fleet.bus.nats_server import NatsServer
from fairlead.fleet.bus.nkey import NodeKey, id_of, is_public_key
from fairlead.fleet.bus.server_binary import find_server, version_of
from fairlead.store.database.folder import FolderInUse
from tests.fleet.bus.nats_harness import NatsHarness, running_bus

PARENT = """
import asyncio, sys
from pathlib import Path
from tests.fleet.bus.nats_harness import running_bus

async def main():
    async with running_bus(Path(sys.argv[1])) as nats:
        print(nats.servers[0].pid, flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_the_server_of_the_package_is_new_enough() -> None:
    assert await version_of(await find_server()) == (2, 15, 1)


async def test_an_old_server_is_refused_with_the_reason(tmp_path: Path) -> None:
    old = tmp_path / "nats-server"
    old.write_text("#!/bin/sh\necho 'nats-server: v2.9.10'\n")
    old.chmod(0o700)
    with pytest.raises(UsageError, match=r"2\.9\.10.*at least 2\.12.*same session"):
        await find_server(str(old))
    with pytest.raises(UsageError, match="cannot run"):
        await find_server(str(tmp_path / "missing"))


async def test_only_the_user_can_read_its_files(tmp_path: Path) -> None:
    async with running_bus(tmp_path):
        folder = tmp_path / "server0"
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        for name in ("nats.conf", "store-key"):
            assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600


async def test_what_it_stores_is_encrypted(tmp_path: Path) -> None:
    secret = b"the model said something private"
    async with running_bus(tmp_path) as nats:
        bus = await nats.bus(nats.admin)
        await bus.bucket("people").put("a", secret)
        await bus.stream("log").append("fl.log.n.s", secret)
    files = [path for path in (tmp_path / "store0").rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if secret in path.read_bytes()]


async def test_a_second_server_on_the_same_folder_is_refused(tmp_path: Path) -> None:
    async with running_bus(tmp_path) as nats:
        second = NatsServer(
            await find_server(), tmp_path / "server0", nats.settings(), nats.members
        )
        with pytest.raises(FolderInUse):
            await second.__aenter__()


async def test_it_ends_with_its_parent_even_if_that_is_killed(tmp_path: Path) -> None:
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PARENT, str(tmp_path), stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    pid = int(await parent.stdout.readline())
    os.kill(pid, 0)
    parent.send_signal(signal.SIGKILL)
    await parent.wait()
    deadline = time.monotonic() + 10
    while is_running(pid):
        assert time.monotonic() < deadline, "the server outlived its parent"
        await asyncio.sleep(0.02)
    # The folder is free, and everything is still there.
    async with running_bus(tmp_path):
        pass


async def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    async with running_bus(tmp_path / "a") as nats:
        other = NatsHarness(tmp_path / "a")
        server = NatsServer(
            await find_server(), tmp_path / "b", nats.servers[0].settings, other.members
        )
        with pytest.raises(UsageError, match="nats-server did not start"):
            await server.__aenter__()


def test_a_key_survives_its_text_form(tmp_path: Path) -> None:
    key = NodeKey()
    assert NodeKey.from_seed(key.seed).public == key.public
    assert key.seed.startswith("SU")
    assert key.public.startswith("U")
    assert is_public_key(key.public)
    assert not is_public_key(key.seed)
    assert not is_public_key(key.public[:-1] + ("A" if key.public[-1] != "A" else "B"))
    assert id_of(key.public) == key.id
    stored = NodeKey.stored_in(tmp_path / "node.key")
    assert NodeKey.stored_in(tmp_path / "node.key").public == stored.public
    assert stat.S_IMODE((tmp_path / "node.key").stat().st_mode) == 0o600
    (tmp_path / "node.key").write_text("garbage")
    with pytest.raises(UsageError, match="damaged"):
        NodeKey.stored_in(tmp_path / "node.key")
