"""A device is revoked while nothing can be stored: on a full file system, with a locked database."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fairlead.store.revocations import RevocationFile

ROOT = Path(__file__).parents[2]
MOUNTED = ("unshare", "-rm")


def can_mount() -> bool:
    """Whether the test can mount its own file system here."""
    if shutil.which("unshare") is None:
        return False
    command = [*MOUNTED, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


TROUBLES: list[tuple[str, tuple[str, ...]]] = [("locked", ())]
if can_mount():
    TROUBLES.append(("full", MOUNTED))


@pytest.mark.timeout(120)
@pytest.mark.parametrize(("kind", "before"), TROUBLES)
async def test_R8_a_revocation_needs_no_disk_and_survives_a_restart(
    tmp_path: Path, kind: str, before: tuple[str, ...]
) -> None:
    command = [*before, sys.executable, "-m", "tests.faults.full_disk", kind, str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    done = await asyncio.to_thread(
        subprocess.run, command, capture_output=True, text=True, timeout=100, check=False, env=env
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["revoked"]["ok"]
    assert seen["revoked"]["result"]["stored"] is False
    assert "not stored" in seen["revoked"]["result"]["message"]
    assert seen["closed with"] == 4401
    assert seen["statuses"] == [200, 401]  # The owner is not locked out.
    assert seen["in the file"]
    assert (seen["after a restart"], seen["a socket after a restart"]) == (401, 4401)
    assert seen["with room"] == [200, 401]
    assert seen["stored in the end"] == [True]


def test_R8_the_room_for_revocations_is_reserved_and_used_again(tmp_path: Path) -> None:
    path = tmp_path / "revoked-devices"
    file = RevocationFile(path)
    assert file.read() == {}
    assert file.reserve()
    size, blocks = path.stat().st_size, path.stat().st_blocks
    assert blocks * 512 >= size > 0  # No hole that would need room later.
    assert path.stat().st_mode & 0o777 == 0o600
    devices = [f"00000000-0000-4000-8000-{n:012}" for n in range(600)]
    kept = [device for device in devices if file.add(device, 1_700_000_000.5)]
    assert kept == devices[:512]
    assert file.read() == dict.fromkeys(kept, 1_700_000_000.5)
    assert file.add(kept[0], 2.0)  # It is there already.
    assert file.remove(kept[7])
    assert file.add(devices[599], 3.0)
    assert file.read()[devices[599]] == 3.0
    assert path.stat().st_size == size
    for odd in ("", "a b", "ü", "x" * 64):
        assert not file.add(odd, 1.0)


def test_R8_a_damaged_slot_hides_no_other(tmp_path: Path) -> None:
    file = RevocationFile(tmp_path / "revoked-devices")
    for name in ("one", "two", "three"):
        assert file.add(name, 1.0)
    content = bytearray(file.path.read_bytes())
    content[64:128] = os.urandom(64)
    file.path.write_bytes(content)
    assert {"one", "three"} <= set(file.read())
    file.path.unlink()
    os.symlink("/etc/passwd", file.path)
    with pytest.raises(OSError, match="symbolic"):
        file.read()
    assert not file.add("four", 1.0)
