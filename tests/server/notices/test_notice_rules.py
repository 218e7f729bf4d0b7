"""Which notices there are, what they say and when they are sent; without any I/O."""

from __future__ import annotations

import pytest

from fairlead.server.notices.rules.derive import derive, seed
from fairlead.server.notices.rules.notice import Notice
from fairlead.server.notices.rules.quiet import Quiet, quiet_for
from fairlead.server.notices.rules.timing import RETRY_DELAYS_S, retry_at, send_at
from fairlead.server.notices.rules.wording import body_of, plain_line, title_of
from fairlead.store.tables.notices import NoticeMark
from fairlead.transcript.state.facts import ProcessExited, PromptHeld, TurnEnded, TurnStarted
from fairlead.transcript.transcript import Transcript
from fairlead.wire.blocks import TextBlock
from fairlead.wire.inputs import Prompt


def told(transcript: Transcript, mark: NoticeMark) -> tuple[list[str], NoticeMark]:
    """The kinds of the new notices, and the new mark."""
    derived = derive(transcript, mark, "A title", lambda row: "hash")
    return [notice.kind for notice in derived.notices], derived.mark


def test_B92_each_end_of_a_turn_is_noticed_once_at_once_or_later() -> None:
    transcript, mark = Transcript(), NoticeMark()
    transcript.feed(TurnStarted(), 1.0)
    assert told(transcript, mark)[0] == []
    transcript.feed(TurnEnded("success"), 2.0)
    kinds, now = told(transcript, mark)
    assert kinds == ["finished"]
    assert told(transcript, now) == ([], now)
    assert told(transcript, mark) == (kinds, now)  # After a crash: the stored mark is the old one.
    transcript.feed(TurnStarted(), 3.0)
    transcript.feed(TurnEnded("api_error"), 4.0)
    assert told(transcript, now)[0] == ["failed"]


def test_B92_a_session_that_goes_on_with_the_next_prompt_has_not_finished() -> None:
    transcript = Transcript()
    transcript.feed(TurnStarted(), 1.0)
    transcript.feed(
        PromptHeld(
            Prompt(uuid="00000000-0000-4000-8000-000000000001", content=(TextBlock(text="next"),))
        ),
        2.0,
    )
    transcript.feed(TurnEnded("success"), 3.0)
    kinds, mark = told(transcript, NoticeMark())
    assert kinds == []
    assert mark.turn


def test_B92_what_was_there_when_a_session_is_first_seen_is_not_new() -> None:
    transcript = Transcript()
    transcript.feed(TurnStarted(), 1.0)
    transcript.feed(TurnEnded("success"), 2.0)
    assert told(transcript, seed(transcript))[0] == []


@pytest.mark.parametrize(
    ("outcome", "kinds"),
    [
        ("success", ["finished"]),
        ("interrupted", []),
        ("budget", ["budget"]),
        ("process_ended", ["failed"]),
        ("host_stopped", ["failed"]),
        ("unknown", ["failed"]),
    ],
)
def test_B92_how_a_turn_ended_decides_the_kind(outcome: str, kinds: list[str]) -> None:
    transcript = Transcript()
    transcript.feed(TurnStarted(), 1.0)
    transcript.feed(TurnEnded(outcome), 2.0)
    assert told(transcript, NoticeMark())[0] == kinds


def test_B92_a_killed_server_is_noticed_as_a_failure_after_the_restart() -> None:
    transcript = Transcript()
    transcript.feed(TurnStarted(), 1.0)
    _, mark = told(transcript, NoticeMark())
    transcript.feed(ProcessExited(stderr="", host_stopped=True), 2.0)
    assert told(transcript, mark)[0] == ["failed"]


@pytest.mark.parametrize(
    ("start", "end", "minute", "left"),
    [
        (22 * 60, 7 * 60, 21 * 60 + 59, 0),
        (22 * 60, 7 * 60, 22 * 60, 9 * 60),
        (22 * 60, 7 * 60, 0, 7 * 60),
        (22 * 60, 7 * 60, 6 * 60 + 59, 1),
        (22 * 60, 7 * 60, 7 * 60, 0),
        (60, 120, 90, 30),
        (60, 120, 120, 0),
        (60, 60, 60, 0),
    ],
)
def test_B98_quiet_hours_may_pass_midnight(start: int, end: int, minute: int, left: int) -> None:
    assert quiet_for(Quiet(start=start, end=end, zone="UTC"), minute) == left


def test_B98_a_notice_waits_for_the_delay_and_the_end_of_the_quiet_hours() -> None:
    assert send_at(100.0, 100.0, delay_s=2.0, quiet_minutes=0) == 102.0
    assert send_at(100.0, 500.0, delay_s=2.0, quiet_minutes=0) == 500.0
    assert send_at(900.0, 500.0, delay_s=2.0, quiet_minutes=0) == 502.0  # The clock was set back.
    assert send_at(100.0, 100.0, delay_s=2.0, quiet_minutes=10) == 700.0


def test_B99_attempts_are_repeated_later_and_later_and_then_given_up() -> None:
    assert [retry_at(0.0, tries) for tries in range(6)] == [*RETRY_DELAYS_S, None]
    assert retry_at(0.0, 0, asked_s=3_600.0) == 3_600.0
    assert retry_at(0.0, 0, asked_s=1e9) == 86_400.0


def test_R25_texts_are_short_and_hide_nothing() -> None:
    evil = "ok\u202e\u200b\n" + "x" * 500
    notice = Notice(
        kind="approval", key="k", at=0.0, title=evil, tool="Bash", subject=evil, waiting=3
    )
    assert len(title_of(notice)) <= 80
    body = body_of(notice, "command")
    assert "\u202e" not in body + title_of(notice)
    assert "\n" not in body
    assert body.endswith("3 requests are waiting.")
    assert plain_line("", 10) == ""
    assert title_of(Notice(kind="plan", key="k", at=0.0)) == "Untitled session"
