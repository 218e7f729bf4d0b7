"""Prompts: from the host's queue to the turn that takes them."""

from __future__ import annotations

import pytest

from fairlead.transcript.state.facts import (
    ProcessExited,
    ProcessStarted,
    PromptCancelled,
    PromptEdited,
    PromptHeld,
    PromptsReordered,
)
from fairlead.transcript.state.model import PromptItem
from fairlead.wire.blocks import DocumentBlock, ImageBlock, Source, TextBlock
from fairlead.wire.encode import decode_input
from fairlead.wire.inputs import Prompt, UnknownInput
from fairlead.wire.json_text import write
from tests.transcript.recordings import fold, stream
from tests.transcript.story import (
    Line,
    Story,
    answers,
    ask,
    calls,
    fresh,
    gives,
    init,
    lifecycle,
    prompt,
    replay,
    result,
    says,
    user,
)

OLD = "2.1.38"


def foreign(text: str) -> object:
    """A prompt as a host writes it that gives no uuid."""
    return decode_input(write({"type": "user", "message": {"role": "user", "content": text}}))


def test_T19_a_prompt_is_held_then_sent_then_started() -> None:
    one = prompt("one")
    story = Story().host(PromptHeld(one))
    assert story.prompts() == ["one held"]
    story.host(one)
    assert story.prompts() == ["one sent"]
    story.cli(init(user_message_uuids=[one.uuid]))
    assert story.prompts() == ["one started"]
    assert story.item(one.uuid).turn == "turn-1"
    assert story.turns()[0].prompts == (one.uuid,)


def test_T20_a_prompt_that_is_written_twice_counts_once() -> None:
    one = prompt("one")
    story = Story().host(one).cli(init(), says("hi"), result()).host(one)
    assert story.prompts() == ["one started"]
    assert story.changes == [change for change in story.changes if change.to == "status"]
    assert story.state == "idle"


def test_T21_prompts_that_have_not_started_stay_at_the_end() -> None:
    one, two = prompt("one"), prompt("two")
    story = Story().host(one).cli(init()).host(two).cli(says("answer"), result())
    assert story.shown() == ["prompt one", "text answer", "prompt two"]
    story.cli(init(), says("second", "msg-2"))
    assert story.shown() == ["prompt one", "text answer", "prompt two", "text second"]


def test_T21_a_prompt_that_overtakes_others_leaves_the_queue() -> None:
    one, two, three = prompt("one"), prompt("two"), prompt("three", priority="now")
    story = Story().host(one).cli(init(user_message_uuids=[one.uuid])).host(two, three)
    story.cli(result(), init(user_message_uuids=[three.uuid]), says("at once"))
    assert story.shown() == ["prompt one", "prompt three", "text at once", "prompt two"]


@pytest.mark.parametrize("by", ["lifecycle", "init", "echo", "result"])
def test_T22_the_cli_names_the_prompts_it_starts(by: str) -> None:
    one, two = prompt("one"), prompt("two")
    story = Story().host(one).cli(init(user_message_uuids=[one.uuid])).host(two)
    lines: dict[str, list[Line]] = {
        "lifecycle": [lifecycle(two.uuid, "started")],
        "init": [result(), init(user_message_uuids=[two.uuid])],
        "echo": [replay("two", two.uuid)],
        "result": [result(user_message_uuids=[one.uuid, two.uuid])],
    }
    story.cli(*lines[by])
    started = story.item(two.uuid)
    assert started.state == ("started" if by == "init" else "merged")
    assert started.into == (None if by == "init" else one.uuid)


def test_T22_a_cli_that_names_prompts_does_not_take_others() -> None:
    one, two = prompt("one"), prompt("two")
    story = Story().host(one).cli(lifecycle(one.uuid, "started"), init(), result()).host(two)
    story.cli(init())
    assert story.prompts() == ["one started", "two sent"]
    assert story.turns()[1].prompts == ()


def test_T23_a_cli_that_names_none_takes_the_first_that_waits() -> None:
    story = Story().host(prompt("one")).cli(init(OLD)).host(prompt("two"), prompt("three"))
    story.cli(result(), init(OLD))
    assert story.prompts() == ["one started", "two started", "three sent"]


def test_T24_prompts_that_waited_together_become_one_turn() -> None:
    story = Story().host(prompt("one")).cli(init("2.1.120")).host(prompt("two"), prompt("three"))
    story.cli(result(), init("2.1.120"))
    assert story.prompts() == ["one started", "two started", "three merged"]
    assert len(story.turns()[1].prompts) == 2


def test_T24_slash_commands_have_turns_of_their_own() -> None:
    story = Story().host(prompt("one")).cli(init("2.1.120")).host(prompt("two"), prompt("/cost"))
    story.cli(result(), init("2.1.120"))
    assert story.prompts() == ["one started", "two started", "/cost sent"]


def test_T24_prompts_written_at_once_to_an_idle_cli_are_not_merged() -> None:
    transcript = fold(stream("2.1.325/eof_queue"))
    assert [len(turn.prompts) for turn in transcript.turns] == [1, 1]


def test_T25_a_prompt_sent_while_a_tool_ran_goes_with_its_result() -> None:
    story = Story().host(prompt("one")).cli(init(OLD), calls()).host(prompt("two"))
    story.cli(gives())
    assert story.prompts() == ["one started", "two sent"]
    story.cli(says("to both", "msg-2"), result())
    assert story.prompts() == ["one started", "two merged"]
    assert story.state == "idle"
    assert story.shown()[-2:] == ["prompt two", "text to both"]


def test_T25_newer_clis_keep_a_slash_command_for_later() -> None:
    story = Story().host(prompt("one")).cli(init("2.1.120"), calls()).host(prompt("/cost"))
    story.cli(gives(), says("done", "msg-2"), result())
    assert story.prompts() == ["one started", "/cost sent"]
    old = Story().host(prompt("one")).cli(init(OLD), calls()).host(prompt("/cost"))
    old.cli(gives(), says("done", "msg-2"), result())
    assert old.prompts() == ["one started", "/cost merged"]


def test_T26_an_echo_gives_a_prompt_without_a_uuid_the_one_the_cli_made() -> None:
    story = Story().host(foreign("hello"))  # type: ignore[arg-type]
    own = fresh()
    story.cli(init(OLD), replay("hello", own))
    (item,) = story.items()
    assert isinstance(item, PromptItem)
    assert (item.id, item.uuid, item.state) == ("prompt-1", own, "started")


def test_T26_an_echo_of_an_unknown_prompt_shows_it() -> None:
    own = fresh()
    story = Story().cli(init(OLD), replay("from elsewhere", own))
    assert story.prompts() == ["from elsewhere started"]
    story.cli(replay("from elsewhere", own))
    assert story.prompts() == ["from elsewhere started"]


def test_T26_prompts_merged_in_one_echo_are_merged() -> None:
    transcript = fold(stream("2.1.325/queue"))
    states = [(item.text, item.state) for item in transcript.items if isinstance(item, PromptItem)]
    assert states == [("one", "started"), ("two", "started"), ("three", "merged")]


def test_T27_a_prompt_can_be_taken_back() -> None:
    one, two, three, four = (prompt(text) for text in ("one", "two", "three", "four"))
    story = Story().host(one, two, three, four, PromptCancelled(one.uuid))
    story.host(ask("interrupt", cancel_queued=True)).cli(answers({"cancelled": [two.uuid]}))
    story.host(ask("cancel_async_message", message_uuid=three.uuid))
    story.cli(answers({"cancelled": True}), lifecycle(four.uuid, "cancelled"))
    assert story.prompts() == [f"{text} cancelled" for text in ("one", "two", "three", "four")]


@pytest.mark.parametrize("state", ["discarded", "refused"])
def test_T27_a_prompt_can_be_refused(state: str) -> None:
    one = prompt("one")
    story = Story().host(one).cli(lifecycle(one.uuid, state))
    assert story.prompts() == ["one refused"]


def test_T27_a_prompt_that_has_started_stays_started() -> None:
    one = prompt("one")
    story = Story().host(one).cli(lifecycle(one.uuid, "started"), init())
    story.cli(lifecycle(one.uuid, "cancelled")).host(PromptCancelled(one.uuid))
    assert story.prompts() == ["one started"]


def test_T28_prompts_go_with_the_process_and_can_be_sent_again() -> None:
    one, two = prompt("one"), prompt("two")
    story = Story().host(ProcessStarted(), one, PromptHeld(two), ProcessExited(returncode=1))
    assert story.prompts() == ["one lost", "two held"]
    story.host(ProcessStarted(resumed="s-1"), one).cli(init())
    assert story.prompts() == ["one started", "two held"]


def test_T29_a_prompt_keeps_its_words_pictures_files_and_command() -> None:
    image = ImageBlock(Source(type="base64", media_type="image/png", data="AA=="))
    plain = DocumentBlock(Source(type="url", url="https://example.invalid/a.pdf"), title="a.pdf")
    story = Story().host(Prompt(uuid=fresh(), content=(TextBlock("look"), image, plain)))
    (item,) = story.items()
    assert isinstance(item, PromptItem)
    assert item.text == "look"
    assert item.images[0]["source"]["media_type"] == "image/png"
    assert item.files[0]["title"] == "a.pdf"
    assert item.command is None


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/cost", "cost"),
        ("/model haiku", "model"),
        ("/", None),
        ("/tmp/x is", None),
        ("a /b", None),
    ],
)
def test_T29_a_slash_command_is_known_by_its_name(text: str, command: str | None) -> None:
    (item,) = Story().host(prompt(text)).items()
    assert isinstance(item, PromptItem)
    assert item.command == command


def test_T29_an_echoed_command_reads_as_it_was_typed() -> None:
    echo = "<command-name>/model</command-name>\n<command-args>haiku</command-args>"
    story = Story().cli(init(OLD), user(echo, isReplay=True))
    assert story.prompts() == ["/model haiku started"]


def test_T30_the_prompt_of_a_subagent_is_shown_under_its_tool() -> None:
    story = Story().cli(init(), calls("Task"), user("do it", parent_tool_use_id="tool-1"))
    item = story.items()[-1]
    assert isinstance(item, PromptItem)
    assert (item.parent, item.by, item.turn) == ("tool-1", "agent", "turn-1")
    assert story.turns()[0].prompts == ()


def test_T31_unknown_lines_of_another_host_are_kept() -> None:
    story = Story().host(UnknownInput(raw=b'{"type":"frobnicate"}', problem="unknown"))
    story.host(UnknownInput(raw=b"not json", problem="not JSON"))
    assert story.shown() == ["unknown frobnicate", "unknown "]
    assert story.items()[1].text == "not json"  # type: ignore[union-attr]


def test_T31_control_lines_of_another_host_are_no_news() -> None:
    story = Story().host(UnknownInput(raw=b'{"type":"control_cancel_request","request_id":"x"}'))
    assert story.items() == ()


def test_T135_a_held_prompt_can_get_other_words() -> None:
    uuid = fresh()
    story = Story().host(PromptHeld(prompt("first", uuid)), PromptHeld(prompt("second")))
    story.host(PromptEdited(prompt("/compact now", uuid)))
    assert story.prompts() == ["/compact now held", "second held"]
    assert story.item(uuid).command == "compact"


def test_T135_a_prompt_that_was_written_keeps_its_words() -> None:
    uuid = fresh()
    story = Story().host(PromptHeld(prompt("first", uuid)), prompt("first", uuid))
    story.host(PromptEdited(prompt("other", uuid)))
    assert story.prompts() == ["first sent"]


def test_T135_held_prompts_can_be_put_into_another_order() -> None:
    one, two, three, sent = fresh(), fresh(), fresh(), fresh()
    story = Story().host(prompt("sent", sent))
    story.host(
        *(
            PromptHeld(prompt(name, name_id))
            for name, name_id in (("one", one), ("two", two), ("three", three))
        )
    )
    story.host(PromptsReordered((three, sent, one, two)))
    assert story.prompts() == ["sent sent", "three held", "one held", "two held"]
    assert [entry.text for entry in story.transcript.held] == ["three", "one", "two"]


def test_T136_what_the_host_holds_is_there_whole_until_it_goes() -> None:
    first = prompt("first", fresh(), priority="now")
    second, third = prompt("second"), prompt("third")
    story = Story().host(PromptHeld(first), PromptHeld(second), PromptHeld(third))
    assert list(story.transcript.held) == [first, second, third]
    story.host(first, PromptCancelled(second.uuid))
    assert list(story.transcript.held) == [third]
    story.host(ProcessExited(returncode=0))
    assert list(story.transcript.held) == [third]
