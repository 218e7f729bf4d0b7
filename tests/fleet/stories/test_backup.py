"""A running gateway is backed up, lost with its folder, and restored elsewhere."""

from __future__ import annotations

import asyncio
import stat
import tarfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fairlead.errors import UsageError
from fairlead.fleet.enrollment.gateway_backup import restore
from tests.fleet.stories.story import Story, listed, opened, post, status


@pytest.fixture
async def story(tmp_path: Path) -> AsyncIterator[Story]:
    story = Story(tmp_path)
    try:
        yield story
    finally:
        await story.close()


@pytest.mark.timeout(300)
async def test_N35_a_lost_gateway_is_restored_with_its_machines_and_devices(
    story: Story, tmp_path: Path
) -> None:
    port = story.new_port()
    command = f"fairlead gateway --port {port} --bus-port {story.bus[1]}"
    gateway = await story.run("cloud", command)
    base, code = await opened(gateway)
    paired = await asyncio.to_thread(post, base, "/api/pair", {"code": code, "name": "phone"})
    token = paired[1]["token"]
    inviting = await story.run("cloud", "fairlead fleet invite")
    link = (await inviting.until(r"fairlead node join '(http://\S+)'"))[1]
    joining = await story.run("laptop", f"fairlead node join {link}", "--machine-name", "laptop")
    await inviting.until(r"must show the number \d{6}")
    await inviting.say("y")
    assert await joining.ended() == 0, joining.printed
    node = await story.run("laptop", "fairlead node --agent demo --port 0 --no-browser")
    await node.until(r"knows this machine as laptop")
    await listed(story, "cloud", r"laptop +\w+ +here")

    before = await story.run("cloud", "fairlead fleet doctor")
    assert await before.ended() == 0, before.printed
    assert "with 1 machine and 0 further gateways" in before.printed
    assert "! no backup was made yet" in before.printed
    copy = tmp_path / "gateway.backup"
    backup = await story.run("cloud", f"fairlead fleet backup {copy}")
    assert await backup.ended() == 0, backup.printed
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    again = await story.run("cloud", f"fairlead fleet backup {copy}")
    assert await again.ended() == 2
    assert "exists" in again.printed
    doctor = await story.run("cloud", "fairlead fleet doctor")
    assert await doctor.ended() == 0, doctor.printed
    assert "✓ the last backup was made less than a minute ago" in doctor.printed

    await gateway.kill()
    restoring = await story.run("new", f"fairlead fleet restore {copy}")
    assert await restoring.ended() == 0, restoring.printed
    restored = await story.run("new", command)
    base, _ = await opened(restored)
    assert await asyncio.to_thread(status, base, "/api/health", token) == 200
    await listed(story, "new", r"laptop +\w+ +here")


def test_N35_only_a_backup_is_restored_and_only_into_an_unused_folder(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong"
    with pytest.raises(UsageError, match="does not exist"):
        restore(wrong, tmp_path / "data")
    wrong.write_bytes(b"no archive")
    with pytest.raises(UsageError, match="damaged"):
        restore(wrong, tmp_path / "data")
    with tarfile.open(wrong, "w:gz"):
        pass
    with pytest.raises(UsageError, match="is not a backup"):
        restore(wrong, tmp_path / "data")
    (tmp_path / "used" / "bus").mkdir(parents=True)
    with pytest.raises(UsageError, match="has a gateway already"):
        restore(wrong, tmp_path / "used")
    assert not (tmp_path / "data").exists()
