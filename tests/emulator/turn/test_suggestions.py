"""Suggested prompts, and flags that old versions do not know, in memory."""

from __future__ import annotations

import pytest

from fairlead.emulator.state.flags import BadFlags
from tests.emulator.engine.engines import engine, prompt, written

SCRIPT = """
- when: broken
  steps: [{fail: 400, retry: false}]
  suggest: never
- steps: [{say: Hello.}]
  suggest: run the tests
"""
FLAG = "--prompt-suggestions=true"


def test_E37_a_suggestion_follows_the_result_of_a_turn() -> None:
    emulated = engine(SCRIPT, "2.1.325", FLAG)
    emulated.feed([prompt("hi")])
    lines = written(emulated.drain())
    kinds = [line["type"] for line in lines]
    assert kinds.index("prompt_suggestion") > kinds.index("result")
    assert lines[-1]["suggestion"] == "run the tests"


@pytest.mark.parametrize("flags", [(), ("--prompt-suggestions=false",)])
def test_E37_without_the_flag_there_is_none(flags: tuple[str, ...]) -> None:
    emulated = engine(SCRIPT, "2.1.325", *flags)
    emulated.feed([prompt("hi")])
    assert "prompt_suggestion" not in [line["type"] for line in written(emulated.drain())]


def test_E37_a_turn_that_failed_suggests_nothing() -> None:
    emulated = engine(SCRIPT, "2.1.325", FLAG)
    emulated.feed([prompt("broken")])
    assert "prompt_suggestion" not in [line["type"] for line in written(emulated.drain())]


@pytest.mark.parametrize("flag", [FLAG, "--include-hook-events"])
def test_E38_an_old_version_does_not_know_the_flags(flag: str) -> None:
    with pytest.raises(BadFlags, match="unknown option"):
        engine(SCRIPT, "2.1.38", flag)
