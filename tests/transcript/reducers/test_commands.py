"""What slash commands print, in every form."""

from __future__ import annotations

from typing import Any

import pytest

from fairlead.transcript.state.model import CommandItem
from tests.transcript.recordings import fold, stream
from tests.transcript.story import Line, Story, init, prompt, replay, result, says, system, user

SYNTHETIC: dict[str, Any] = {"message_fields": {"model": "<synthetic>"}}


def old_form(text: str, stream: str = "stdout") -> Line:
    return user(f"<local-command-{stream}>{text}</local-command-{stream}>", isReplay=True)


def command(story: Story) -> CommandItem:
    (found,) = (entry for entry in story.items() if isinstance(entry, CommandItem))
    return found


def test_T54_the_output_of_a_command_is_shown_in_its_old_form() -> None:
    story = Story().host(prompt("/cost now")).cli(init("2.1.38"), old_form("Total\n"), result(""))
    item = command(story)
    assert (item.command, item.args, item.text, item.failed) == ("cost", "now", "Total", False)
    assert item.turn == "turn-1"


def test_T54_the_output_of_a_command_is_shown_in_its_new_form() -> None:
    line = says(
        "Total",
        local_command_source="<local-command-stdout>Total</local-command-stdout>",
        local_command_run={"command": "usage", "args": ""},
        **SYNTHETIC,
    )
    story = Story().host(prompt("/cost")).cli(init(), line, result("Total", local_command="cost"))
    assert story.shown() == ["prompt /cost", "command Total"]
    assert command(story).command == "cost"


def test_T54_a_synthetic_line_without_a_word_about_it_is_one_too() -> None:
    story = Story().host(prompt("/cost")).cli(init("2.1.120"), says("Total", **SYNTHETIC))
    assert story.shown() == ["prompt /cost", "command Total"]


def test_T54_the_output_of_a_command_in_a_system_line_is_shown() -> None:
    story = Story().cli(init(), system("local_command_output", content="Total"))
    assert story.shown() == ["command Total"]


def test_T55_an_answer_that_is_only_in_the_result_is_shown() -> None:
    story = Story().host(prompt("/foo")).cli(init("2.1.38"), result("Unknown skill: foo"))
    assert story.shown() == ["prompt /foo", "command Unknown skill: foo"]


def test_T55_an_answer_that_the_result_repeats_is_shown_once() -> None:
    story = (
        Story().host(prompt("/foo")).cli(init(), says("From the model"), result("From the model"))
    )
    assert story.shown() == ["prompt /foo", "text From the model"]


def test_T55_the_result_of_a_prompt_is_no_command() -> None:
    story = Story().host(prompt("hello")).cli(init(), result("Hi"))
    assert story.shown() == ["prompt hello"]
    assert story.turns()[0].text == "Hi"


def test_T56_a_command_that_failed_says_so() -> None:
    old = Story().host(prompt("/compact")).cli(init("2.1.38"), old_form("Error: no", "stderr"))
    assert command(old).failed is True
    line = says("Error: no", local_command_source="x", local_command_outcome={"kind": "failed"})
    assert command(Story().host(prompt("/compact")).cli(init(), line)).failed is True


def test_T57_what_the_cli_prints_outside_of_turns_is_shown() -> None:
    story = Story().host(prompt("a")).cli(init(), result(), old_form("Set model to `x`"))
    item = command(story)
    assert (item.turn, item.command, item.text) == (None, "", "Set model to `x`")
    assert len(story.turns()) == 1


@pytest.mark.parametrize("version", ["2.1.29", "2.1.38", "2.1.120", "2.1.220", "2.1.325"])
def test_T54_every_version_shows_its_cost(version: str) -> None:
    transcript = fold(stream(f"{version}/slash_local"))
    printed = [item for item in transcript.items if isinstance(item, CommandItem)]
    assert any(
        entry.text.startswith("Total cost:") and entry.command == "cost" for entry in printed
    )


def test_T54_an_echo_of_the_command_itself_is_not_its_output() -> None:
    one = prompt("/cost")
    story = (
        Story()
        .host(one)
        .cli(init("2.1.38"), replay("<command-name>/cost</command-name>", one.uuid))
    )
    assert story.shown() == ["prompt /cost"]
