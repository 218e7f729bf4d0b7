"""Attacks by another user of the same machine: a code in a command line, the socket of another."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
from pathlib import Path

from fairlead.server.access.codes import UNKNOWABLE, Codes
from fairlead.server.access.requests.peers import user_of
from fairlead.server.limits import Limits
from tests.server.conftest import Served

# T-36


def test_R5_a_code_in_a_command_line_is_of_use_to_its_own_user_only() -> None:
    codes = Codes(Limits())
    codes.issue("seen in /proc", "owner", now=0.0, user=1000)
    assert codes.redeem("seen in /proc", now=1.0, user=lambda: 1001) is None
    assert codes.redeem("seen in /proc", now=1.0, user=lambda: 0) is None
    assert codes.redeem("seen in /proc", now=1.0, user=lambda: None) is None
    assert codes.redeem("seen in /proc", now=1.0, user=lambda: 1000) == "owner"


OTHER_USER = """
import encodings.idna, json, os, sys, urllib.error, urllib.request
os.setgid(65534); os.setuid(65534)
base, code, data = sys.argv[1:]
request = urllib.request.Request(base + "/api/pair", json.dumps({"code": code}).encode(), {"Origin": base})
try:
    print(urllib.request.urlopen(request, timeout=60).status)
except urllib.error.HTTPError as refusal:
    print(refusal.code)
for folder, _, files in os.walk(data):
    print(folder, files)
try:
    print(os.listdir(data))
except PermissionError:
    print("closed")
"""


async def test_R5_another_user_of_this_machine_gets_nothing(served: Served) -> None:
    link = served.service.launch_link(user=os.getuid())
    code = link.partition("#code=")[2]
    folder = served.service.store.folder
    assert folder.stat().st_mode & 0o777 == 0o700
    if os.getuid() != 0:
        return  # Only root can become another user; the rights of the folder say the same.
    command = [sys.executable, "-c", OTHER_USER, served.base, code, str(folder)]
    done = await asyncio.to_thread(
        subprocess.run, command, capture_output=True, text=True, timeout=30, check=False
    )
    results = done.stdout.split()
    assert results == ["401", "closed"], done
    status, _, _ = await served.http(
        "/api/pair", method="POST", body={"code": code}, origin=served.base
    )
    assert status == 200  # and it was not used up by the other one


async def test_R5_who_is_at_the_other_end_is_read_from_the_system(served: Served) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", served.service.port)
    name = writer.get_extra_info("sockname")
    assert user_of(name, served.service.port) == os.getuid()
    assert user_of(("127.0.0.1", 1), served.service.port) is None
    assert user_of(("no address", 1), served.service.port) is None
    assert user_of(name, served.service.port, [Path("/nowhere")]) == UNKNOWABLE
    writer.close()
    assert reader is not None


async def test_R5_no_secret_is_on_a_command_line(served: Served) -> None:
    client = await served.client()
    session = await client.new_session("hello")
    await client.ending(session)
    assert command_lines_with(client.token) == 0
    assert command_lines_with(str(served.service.store.folder.parent)) >= 1  # it does look


def command_lines_with(text: str) -> int:
    """How many processes have a text in their command line."""
    count = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            count += text.encode() in path.read_bytes()
    return count
