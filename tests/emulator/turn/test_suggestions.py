"""Suggested prompts, and flags that old versions do not know, in memory."""

from __future__ import annotations

from typing import Any

import pytest

from fairlead.emulator.engine.engine import Engine
from fairlead.emulator.state.effects import Exit, Sleep
from fairlead.emulator.state.flags import BadFlags
from tests.emulator.engine.engines import engine, prompt, request, written

SCRIPT = """
- when: broken
  steps: [{fail: 400, retry: false}]
  suggest: never
- steps: [{say: Hello.}]
  suggest: run the tests
"""
FLAG = "--prompt-suggestions=true"


def kinds_of(emulated: Engine, *texts: str) -> list[str]:
    """The types of the lines, with a suggestion after each prompt if there is one."""
    lines: list[dict[str, Any]] = []
    for text in texts:
        emulated.feed([prompt(text)])
        effects = emulated.drain()
        for effect in effects:
            if isinstance(effect, Sleep):
                emulated.finish(effect.number, None)
        lines += [*written(effects), *written(emulated.drain())]
    return [line["type"] for line in lines]


def test_E37_a_suggestion_follows_the_result_of_the_second_turn() -> None:
    emulated = engine(SCRIPT, "2.1.325", FLAG)
    assert "prompt_suggestion" not in kinds_of(emulated, "hi")
    emulated.feed([prompt("hi")])
    effects = emulated.drain()
    assert written(effects)[-1]["type"] == "result"
    (answer,) = [effect for effect in effects if isinstance(effect, Sleep)]
    emulated.finish(answer.number, None)
    (line,) = written(emulated.drain())
    assert (line["type"], line["suggestion"]) == ("prompt_suggestion", "run the tests")


def test_E37_a_prompt_before_the_answer_prevents_the_suggestion() -> None:
    emulated = engine(SCRIPT, "2.1.325", FLAG)
    kinds_of(emulated, "hi")
    emulated.feed([prompt("hi")])
    (first,) = [effect for effect in emulated.drain() if isinstance(effect, Sleep)]
    emulated.feed([prompt("hi")])
    emulated.finish(first.number, None)
    assert "prompt_suggestion" not in [line["type"] for line in written(emulated.drain())]


def test_E37_the_process_ends_after_the_suggestion() -> None:
    emulated = engine(SCRIPT, "2.1.325", FLAG)
    kinds_of(emulated, "hi")
    emulated.feed([prompt("hi")])
    (answer,) = [effect for effect in emulated.drain() if isinstance(effect, Sleep)]
    emulated.end_input()
    assert not [effect for effect in emulated.drain() if isinstance(effect, Exit)]
    emulated.finish(answer.number, None)
    assert [effect.code for effect in emulated.drain() if isinstance(effect, Exit)] == [0]


@pytest.mark.parametrize(
    ("flags", "wanted", "expected"),
    [
        ((), None, False),
        (("--prompt-suggestions=false",), None, False),
        ((), True, True),
        (("--prompt-suggestions=false",), True, True),
        ((FLAG,), False, False),
        ((FLAG, "--permission-mode=plan"), None, False),
    ],
)
def test_E37_the_first_initialize_decides_before_the_flag(
    flags: tuple[str, ...], wanted: bool | None, expected: bool
) -> None:
    emulated = engine(SCRIPT, "2.1.325", *flags)
    if "--permission-mode=plan" in flags:
        emulated.session.mode = "plan"
    if wanted is not None:
        emulated.feed([request("initialize", promptSuggestions=wanted)])
    assert ("prompt_suggestion" in kinds_of(emulated, "hi", "hi")) is expected


def test_E37_a_turn_that_failed_suggests_nothing() -> None:
    emulated = engine(SCRIPT, "2.1.325", FLAG)
    kinds_of(emulated, "hi", "hi")
    assert "prompt_suggestion" not in kinds_of(emulated, "broken")


def test_E37_the_suggestion_of_the_script_is_that_of_every_scene() -> None:
    script = "{unmatched: done, suggest: run the tests}"
    assert "prompt_suggestion" in kinds_of(engine(script, "2.1.325", FLAG), "hi", "hi")


@pytest.mark.parametrize("flag", [FLAG, "--include-hook-events"])
def test_E38_an_old_version_does_not_know_the_flags(flag: str) -> None:
    with pytest.raises(BadFlags, match="unknown option"):
        engine(SCRIPT, "2.1.38", flag)
