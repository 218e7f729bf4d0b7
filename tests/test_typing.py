"""What a type checker sees of the public front: exact types, and mistakes that it finds.

The functions with `assert_type` are never called: mypy checks them with the rest of the tests.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import assert_type

import fairlead
import fairlead.sync


async def asynchronous(session: fairlead.Session) -> None:
    turn = await session.send("hi", verbatim=True)
    assert_type(turn, fairlead.Turn)
    assert_type(await turn, fairlead.Result)
    assert_type(turn.errors, tuple[str, ...])
    assert_type([piece async for piece in turn.text_stream()], list[str])
    assert_type(await session.answer("id", fairlead.Allow()), bool)
    assert_type(session.messages(), fairlead.Reader[fairlead.AnyMessage])
    assert_type(await fairlead.ask("hi"), fairlead.Answer)
    assert_type(fairlead.__version__, str)


def blocking(session: fairlead.sync.Session) -> None:
    turn = session.send("hi", at_once=True)
    assert_type(turn, fairlead.sync.Turn)
    assert_type(turn.wait(), fairlead.Result)
    assert_type(turn.text, str)
    assert_type(turn.cost_usd, float | None)
    assert_type(turn.result, fairlead.Result | None)
    assert_type(list(turn.text_stream()), list[str])
    assert_type(session.transcript, fairlead.Transcript)
    assert_type(session.set_model("opus"), str | None)
    assert_type(session.messages(), fairlead.sync.Reader[fairlead.AnyMessage])
    assert_type(session.changes(), fairlead.sync.Reader[fairlead.Change])
    assert_type(session.pending, dict[str, fairlead.CliRequest])
    assert_type(fairlead.sync.Session.resume("id"), fairlead.sync.Session)
    assert_type(fairlead.sync.ask("hi"), fairlead.Answer)


MISTAKES = """
import fairlead
import fairlead.sync

fairlead.Options(permission_mode="wrong")
fairlead.Options(effort="huge")
fairlead.Hook(event="PreTooluse", handler=lambda call: None)
fairlead.SettingsSources(sources=["global"])


def use(session: fairlead.sync.Session, turn: fairlead.sync.Turn) -> None:
    session.no_such_method()
    turn.no_such()
    session.send("hi", at_onec=True)
"""


def test_a_type_checker_finds_mistakes(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(MISTAKES)
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(program)],
        capture_output=True, text=True, cwd=Path(__file__).parent.parent, timeout=300,
    )  # fmt: skip
    lines = {int(line.split(":")[1]) for line in found.stdout.splitlines() if ": error:" in line}
    assert lines == {5, 6, 7, 8, 12, 13, 14}, found.stdout
