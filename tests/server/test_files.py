"""Files below the allowed folders, and nothing else."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from fairlead.errors import UsageError
from fairlead.server.files import OutsideRoots, read_below
from fairlead.server.http.uploads import Uploads
from fairlead.server.limits import Limits
from fairlead.wire.blocks import DocumentBlock, ImageBlock, TextBlock

CANARY = b"the canary"


@pytest.fixture
def roots(tmp_path: Path) -> Path:
    (tmp_path / "root" / "deep").mkdir(parents=True)
    (tmp_path / "root-evil").mkdir()
    (tmp_path / "root" / "deep" / "good.txt").write_bytes(b"good")
    (tmp_path / "root-evil" / "secret").write_bytes(CANARY)
    (tmp_path / "secret").write_bytes(CANARY)
    (tmp_path / "root" / "link").symlink_to(tmp_path / "secret")
    (tmp_path / "root" / "inside").symlink_to(tmp_path / "root" / "deep" / "good.txt")
    return tmp_path


def test_B17_a_file_below_a_root_is_read(roots: Path) -> None:
    path = str(roots / "root" / "deep" / "good.txt")
    assert read_below(path, [str(roots / "root")], 100) == b"good"
    assert read_below(path, [str(roots / "root")], 2) == b"go"
    assert read_below(str(roots / "root" / "inside"), [str(roots / "root")], 100) == b"good"


@pytest.mark.parametrize(
    "path",
    [
        "secret", "root-evil/secret", "root/../secret", "root/deep/../../secret", "root/link",
        "root", "root/deep", "root/missing", "root/deep/good.txt/x", "root/\0", "",
    ],
)  # fmt: skip
def test_B17_nothing_else_is_read(roots: Path, path: str) -> None:
    with pytest.raises(OutsideRoots):
        read_below(str(roots / path), [str(roots / "root")], 100)


def test_B17_a_device_or_a_pipe_is_not_a_file(roots: Path) -> None:
    os.mkfifo(roots / "root" / "pipe")
    for path in (str(roots / "root" / "pipe"), "/dev/zero"):
        with pytest.raises(OutsideRoots):
            read_below(path, [str(roots / "root"), "/dev"], 100)


def test_B17_a_symlink_swapped_in_under_our_hands_gives_nothing_away(roots: Path) -> None:
    wobbly, root = roots / "root" / "wobbly", str(roots / "root")
    wobbly.write_bytes(b"good")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for target in (roots / "secret", roots / "root" / "deep" / "good.txt"):
                other = roots / "other"
                other.symlink_to(target)
                other.replace(wobbly)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        seen = set()
        for _ in range(3000):
            try:
                seen.add(read_below(str(wobbly), [root], 100))
            except OutsideRoots:
                seen.add(b"")
        assert CANARY not in seen
        assert seen
    finally:
        stop.set()
        thread.join()


def test_B20_an_upload_becomes_a_block_of_its_own_kind(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path / "u", Limits())
    png = uploads.keep(b"\x89PNG\r\n\x1a\n....")
    pdf = uploads.keep(b"%PDF-1.7 ...")
    text = uploads.keep(b"some words")
    assert (png.kind, pdf.kind, text.kind) == ("image", "document", "text")
    assert isinstance(uploads.block(png.id), ImageBlock)
    assert isinstance(uploads.block(pdf.id, "a.pdf"), DocumentBlock)
    assert uploads.block(text.id, "notes.txt") == TextBlock(text="notes.txt:\n\nsome words")


@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe binary", b"RIFF\xff\xff\xff\xffWAVE"])
def test_B20_what_no_prompt_can_carry_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(UsageError):
        Uploads(tmp_path / "u", Limits()).keep(content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x89PNG" + bytes(300), "An image can have"),
        (b"words " * 50, "Mention its path with @"),
        (b"%PDF-1.7" + b"x" * 600, "A document can have"),
    ],
)
def test_B20_what_is_too_large_is_refused_with_what_to_do(
    tmp_path: Path, content: bytes, message: str
) -> None:
    limits = Limits(image_bytes=200, prompt_bytes=100, upload_bytes=500)
    with pytest.raises(UsageError, match=message):
        Uploads(tmp_path / "u", limits).keep(content)
    assert not (tmp_path / "u").exists()


@pytest.mark.parametrize("name", ["../secret", "", "missing", "a/b", "."])
def test_B20_an_upload_is_found_by_our_id_only(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="Upload not found"):
        Uploads(tmp_path / "u", Limits()).block(name)


def test_B20_old_uploads_make_room_for_new_ones(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path / "u", Limits(uploads_bytes=1000))
    first = uploads.keep(b"a" * 600)
    os.utime(tmp_path / "u" / first.id, (1, 1))
    second = uploads.keep(b"b" * 600)
    with pytest.raises(UsageError):
        uploads.block(first.id)
    assert uploads.block(second.id)
