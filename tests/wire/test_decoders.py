"""Decoders can be used from several threads, also for the first time."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import fairlead
from fairlead.wire import decoders

PACKAGES = ("wire", "transcript", "permissions", "store")
"""What they decode may be decoded in any thread."""

THREADS = """
import sys, threading
from fairlead.wire import decoders, updates
from fairlead.wire.encode import decode_input

sys.setswitchinterval(1e-6)
LINES = [
    b'{"type": "user", "uuid": "a", "message": {"role": "user", "content": "hello"}}',
    b'{"type": "control_request", "request_id": "a", "request": {"subtype": "interrupt"}}',
    b'{"type": "control_response", "response": {"subtype": "success", "request_id": "a"}}',
    b'{"type": "update_environment_variables", "variables": {"a": "b"}}',
]
UPDATE = {"type": "setMode", "mode": "plan", "destination": "session"}
start = threading.Barrier(8)

def work():
    start.wait()
    for line in LINES:
        decode_input(line)
    updates.read(UPDATE)

threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_W60_lines_can_be_decoded_in_several_threads_from_the_first_one_on() -> None:
    completed = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True)
    assert (completed.returncode, completed.stderr) == (0, "")


def test_W60_a_type_has_one_decoder() -> None:
    assert decoders.decoder(list[int]) is decoders.decoder(list[int])
    assert decoders.decode(b"[1]", list[int]) == [1]
    assert decoders.convert(["1"], list[int], strict=False) == [1]


def unsafe_calls(tree: ast.Module) -> list[int]:
    """Lines in functions that may have msgspec read a class while another thread does."""
    return sorted(
        node.lineno
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        if (name := ast.unparse(node.func)) in ("msgspec.convert", "msgspec.json.Decoder")
        or (name == "msgspec.json.decode" and any(word.arg == "type" for word in node.keywords))
    )


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("decode = msgspec.json.Decoder(int)", []),
        ("def read(a):\n    return msgspec.json.decode(a)", []),
        ("def read(a):\n    return msgspec.json.decode(a, type=Row)", [2]),
        ("def read(a):\n    return msgspec.convert(a, Row)", [2]),
        ("@cache\ndef made():\n    return msgspec.json.Decoder(Row)", [3]),
    ],
)
def test_W60_calls_that_are_not_safe_are_found(source: str, lines: list[int]) -> None:
    assert unsafe_calls(ast.parse(source)) == lines


@pytest.mark.parametrize("package", PACKAGES)
def test_W60_packages_whose_code_runs_in_threads_decode_by_decoders(package: str) -> None:
    root = Path(fairlead.__file__).parent
    unsafe = [
        f"{path.relative_to(root)}:{line}"
        for path in sorted((root / package).rglob("*.py"))
        if path.relative_to(root) != Path("wire/decoders.py")
        for line in unsafe_calls(ast.parse(path.read_text("utf-8")))
    ]
    assert unsafe == []
