"""The scratch project of the tour: a small program with a small mistake, tests and a picture."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

__all__ = ["make_scratch_project"]

GREETING = '''"""Greets people."""


def greet(name: str) -> str:
    return f"{name}, hello"
'''

TESTS = '''"""Run with `python3 -m unittest -v`."""

import unittest

from greeting import greet


class GreetingTest(unittest.TestCase):
    def test_it_says_hello_first(self) -> None:
        self.assertEqual(greet("Ada"), "Hello, Ada")


if __name__ == "__main__":
    unittest.main()
'''

README = """# A scratch project

Made for the tour. `greeting.py` has a mistake that the tests find.
"""


def make_scratch_project(folder: Path) -> None:
    """Write the project to a folder; existing files are not changed."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"greeting.py": GREETING, "test_greeting.py": TESTS, "README.md": README}
    for name, text in texts.items():
        if not (folder / name).exists():
            (folder / name).write_text(text, encoding="utf-8")
    if not (folder / "flag.png").exists():
        (folder / "flag.png").write_bytes(_flag(96, 64))


def _flag(width: int, height: int) -> bytes:
    """A picture: two fields of blue with a white band between them."""
    blue, white = bytes((31, 78, 140)), bytes((250, 250, 246))
    third = height // 3
    rows = b"".join(
        b"\x00" + (white if third <= row < 2 * third else blue) * width for row in range(height)
    )
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = (_chunk(b"IHDR", header), _chunk(b"IDAT", zlib.compress(rows)), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
