"""A copy of everything that a gateway cannot get back by itself: keys, certificates, the list of machines,
and the devices with their roles.

It is made while the gateway runs. Sessions and their logs are on the machines and not in it. The file has
private keys, so only the user can read it.
"""

from __future__ import annotations

import base64
import io
import os
import tarfile
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from fairlead.errors import UsageError
from fairlead.fleet.bus.bus import Bus, Conflict
from fairlead.store.database.folder import DataFolder, own_file

__all__ = ["back_up", "last_backup", "put_back", "restore"]

BUCKETS = ("people", "access", "nodes", "owners", "clients")
PASSING = ("code.", "join.", "machine.", "roster")
"""Keys that are not worth a copy: codes and requests expire in minutes, and the list of machines is a
file of its own."""

LEFT_OUT = {"lock", "nats.conf", "accounts.conf", "restore.json", "last-backup"}
STATE, RESTORED, MADE = "state.json", "restore.json", "last-backup"
LARGEST = 256 * 1024 * 1024

State = dict[str, dict[str, str]]
"""Bucket -> key -> value in base 64."""


async def back_up(bus: Bus, folder: Path, target: Path) -> dict[str, int]:
    """Write the copy; `folder` is `bus` of the gateway's data folder. Returns what it contains."""
    state: State = {}
    for name in BUCKETS:
        entries = await bus.bucket(name).entries()
        state[name] = {
            entry.key: base64.b64encode(entry.value or b"").decode("ascii")
            for entry in entries
            if not entry.key.startswith(PASSING)
        }
    files = {path.name: path.read_bytes() for path in _files(folder)}
    _write(target, files, state)
    (folder / MADE).write_text(f"{time.time():.0f} {target}\n")
    return {"files": len(files), "devices": len(state["people"])}


def _files(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.iterdir()
        if path.is_file() and path.name not in LEFT_OUT and path.suffix not in (".new", ".log")
    )


def _write(target: Path, files: Mapping[str, bytes], state: State) -> None:
    if target.exists():
        raise UsageError(f"{target} exists. Name another file for the backup.")
    draft = target.with_name(f".{target.name}.new")
    handle = own_file(draft)
    try:
        with os.fdopen(handle, "wb") as file, tarfile.open(fileobj=file, mode="w:gz") as archive:
            for name, content in files.items():
                _add(archive, f"bus/{name}", content)
            _add(archive, STATE, msgspec.json.encode(state))
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), 0o600
    entry.mtime = int(time.time())
    archive.addfile(entry, io.BytesIO(content))


def restore(source: Path, data: Path) -> int:
    """Write the files of a copy into an unused data folder; the number of files."""
    if (data / "bus").exists():
        raise UsageError(
            f"{data} has a gateway already. Name an empty folder with --data, or move this one away."
        )
    files, state = _read(source)
    folder = DataFolder(data)
    folder.claim()
    try:
        bus = data / "bus"
        bus.mkdir(mode=0o700)
        for name, content in {**files, RESTORED: state}.items():
            handle = own_file(bus / name)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
    finally:
        folder.release()
    return len(files)


def _read(source: Path) -> tuple[dict[str, bytes], bytes]:
    files: dict[str, bytes] = {}
    state: bytes | None = None
    try:
        with tarfile.open(source, "r:gz") as archive:
            for entry in archive:
                content = archive.extractfile(entry)
                if content is None or not entry.isfile() or entry.size > LARGEST:
                    continue
                folder, _, name = entry.name.rpartition("/")
                if entry.name == STATE:
                    state = content.read()
                elif folder == "bus" and name not in ("", ".", ".."):
                    files[name] = content.read()
        msgspec.json.decode(state or b"", type=State)
    except FileNotFoundError:
        raise UsageError(f"{source} does not exist.") from None
    except (OSError, EOFError, tarfile.TarError, msgspec.DecodeError) as problem:
        raise UsageError(
            f"{source} is not a backup of a gateway, or it is damaged: {problem}."
        ) from None
    if state is None or "gateway.key" not in files:
        raise UsageError(f"{source} is not a backup of a gateway.")
    return files, state


async def put_back(bus: Bus, folder: Path) -> int:
    """Write what a restored gateway knows to the bus, where it is missing; the number of keys."""
    path = folder / RESTORED
    if not path.exists():
        return 0
    state = msgspec.json.decode(path.read_bytes(), type=State)
    count = 0
    for name, entries in state.items():
        for key, value in entries.items() if name in BUCKETS else ():
            try:
                await bus.bucket(name).create(key, base64.b64decode(value))
                count += 1
            except Conflict:
                continue  # What the bus has is later.
    path.unlink()
    return count


def last_backup(folder: Path) -> tuple[float, str] | None:
    """When the last copy was made, and where; None if there is none."""
    try:
        at, _, target = (folder / MADE).read_text().strip().partition(" ")
        return float(at), target
    except (OSError, ValueError):
        return None
