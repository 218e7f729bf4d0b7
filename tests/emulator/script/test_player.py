"""Loading, matching and playing scripts."""

from __future__ import annotations

from typing import Any

import pytest

from fairlead.emulator.script.player import Ask, Player
from fairlead.emulator.script.scenario import load_text, load_tour
from fairlead.errors import UsageError
from fairlead.model_api.replies import Failure, Reply, Text, Thinking, ToolUse


def ask(prompt: str, *results: dict[str, Any]) -> Ask:
    return Ask(conversation="", prompt=prompt, results=results, is_new_prompt=not results)


def blocks(player: Player, request: Ask) -> tuple[Any, ...]:
    answer = player.reply(request).answer
    assert isinstance(answer, Reply)
    return answer.blocks


def test_E12_a_step_refers_to_earlier_results_and_may_depend_on_them() -> None:
    player = Player(
        load_text(
            """
            - when: go
              steps:
                - {use: Bash, input: {command: ls}, as: listing, id: t1}
                - {say: "Failed: {{listing.text}}", if: listing.failed}
                - {say: "Found {{listing.text}}", unless: listing.failed}
            """
        )
    )
    (use,) = blocks(player, ask("go"))
    assert isinstance(use, ToolUse)
    result = {"tool_use_id": "t1", "text": "a.txt", "failed": False, "denied": False}
    assert blocks(player, ask("go", result)) == (Text("Found a.txt"),)


def test_a_prompt_is_matched_by_words_or_by_a_regular_expression() -> None:
    player = Player(
        load_text(
            r"""
            - when: '/^ready\b/'
              steps: [{think: hm}, {say: "One."}]
            - when: Steady
              steps: [{say: "Two."}]
            - steps: [{say: "{{prompt}}!"}]
            """
        )
    )
    assert blocks(player, ask("Ready when you are"))[0] == Thinking("hm")
    assert blocks(player, ask("hold it steady")) == (Text("Two."),)
    assert blocks(player, ask("are you ready")) == (Text("are you ready!"),)


def test_a_failure_precedes_the_steps_after_it() -> None:
    player = Player(load_text("- steps: [{fail: 529, retry_after: 0}, {say: Again.}]"))
    answer = player.reply(ask("go")).answer
    assert isinstance(answer, Failure)
    assert answer.status == 529
    again = Ask(conversation="", prompt="go")
    assert blocks(player, again) == (Text("Again."),)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("just words", "a list of scenes"),
        ("- when: x", "needs `steps`"),
        ("- steps: [{sing: x}]", "a step is one of"),
        ("- steps: [{say: x, loud: true}]", "has no loud"),
        ("- steps: [", "not YAML"),
    ],
)
def test_a_script_with_a_mistake_is_refused_with_its_position(script: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        load_text(script)


def test_the_tour_has_a_scene_for_everything_it_promises() -> None:
    tour = load_tour()
    for stop in ("tour", "edit", "tests", "ask", "plan", "tasks", "agents", "image", "help"):
        scene = next(scene for scene in tour.scenes if scene.matches(stop))
        assert scene.when is not None, stop
