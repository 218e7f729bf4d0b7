"""Notices: events outside of the conversation."""

from __future__ import annotations

from typing import Any

import pytest

from fairlead.transcript.state.facts import ProcessStarted
from tests.transcript.recordings import fold, stream
from tests.transcript.story import (
    Line,
    Story,
    calls,
    fresh,
    gives,
    init,
    message_start,
    prompt,
    result,
    says,
    system,
    user,
)


def test_T58_a_line_for_the_user_is_a_notice_with_its_level() -> None:
    story = Story().cli(init(), system("informational", content="mind this", level="warning"))
    (notice,) = story.notices("informational")
    assert (notice.text, notice.level, notice.turn) == ("mind this", "warning", "turn-1")


OTHERS: list[tuple[str, dict[str, Any], str]] = [
    ("plugin_install", {"status": "failed", "name": "p", "error": "boom"}, "plugin_install"),
    ("files_persisted", {"files": [{"filename": "a"}]}, "files_persisted"),
    ("memory_recall", {"mode": "select", "memories": [{"path": "m"}]}, "memory_recall"),
    ("mirror_error", {"error": "no"}, "mirror_error"),
    (
        "session_writes_lost",
        {"error_code": "ENOSPC", "lost": ["transcript"]},
        "session_writes_lost",
    ),
    ("worker_shutting_down", {"reason": "idle"}, "shutting_down"),
    ("turn_preempted", {"reason": "quick", "preempted_by_uuid": "u"}, "preempted"),
    ("elicitation_complete", {"mcp_server_name": "s"}, "elicitation_complete"),
]


@pytest.mark.parametrize(("subtype", "fields", "kind"), OTHERS, ids=[other[0] for other in OTHERS])
def test_T58_each_rare_line_for_the_user_is_one_notice(
    subtype: str, fields: dict[str, Any], kind: str
) -> None:
    story = Story().cli(init(), system(subtype, **fields))
    assert len(story.notices(kind)) == 1


def test_T58_a_sign_in_is_reported() -> None:
    line = {"type": "auth_status", "uuid": fresh(), "isAuthenticating": True, "output": ["open it"]}
    (notice,) = Story().cli(line).notices("auth")
    assert notice.text == "open it"


def test_T58_a_note_with_a_key_takes_the_place_of_the_one_before() -> None:
    story = Story().cli(
        system("notification", key="k", text="first"),
        system("notification", key="k", text="second"),
    )
    (notice,) = story.notices("notification")
    assert notice.text == "second"


def retry(attempt: int) -> Line:
    return system(
        "api_retry", attempt=attempt, max_retries=10, retry_delay_ms=1500, error_status=529
    )


def test_T59_the_tries_of_one_request_are_one_notice_with_a_countdown() -> None:
    story = Story().cli(init(), retry(1), retry(2))
    (notice,) = story.notices("retry")
    assert (notice.data["attempt"], notice.data["until"]) == (2, story.at + 1.5)
    assert notice.data["over"] is False
    story.cli(says("at last"))
    (notice,) = story.notices("retry")
    assert (notice.data["over"], notice.data["until"]) == (True, None)


def test_T59_the_next_request_counts_from_zero() -> None:
    story = Story().cli(init(), retry(1), message_start(), retry(1))
    assert [entry.data["over"] for entry in story.notices("retry")] == [True, False]


def test_T60_a_usage_limit_is_news_only_when_it_bites() -> None:
    def limit(status: str) -> Line:
        info = {"status": status, "rateLimitType": "five_hour", "utilization": 0.9}
        return {"type": "rate_limit_event", "uuid": fresh(), "rate_limit_info": info}

    story = Story().cli(init(), limit("allowed"))
    assert story.notices("rate_limit") == []
    assert story.transcript.session.rate_limits["five_hour"]["status"] == "allowed"
    assert len(story.cli(limit("rejected")).notices("rate_limit")) == 1


def test_T61_a_hook_is_one_notice_from_start_to_end() -> None:
    hook = {"hook_id": "h", "hook_name": "PreToolUse:Bash", "hook_event": "PreToolUse"}
    story = Story().cli(init(), system("hook_started", **hook))
    (notice,) = story.notices("hook")
    assert notice.data["outcome"] is None
    story.cli(system("hook_progress", output="so far", **hook))
    story.cli(system("hook_response", output="all", exit_code=2, outcome="error", **hook))
    (notice,) = story.notices("hook")
    assert notice.level == "warning"
    assert (notice.data["outcome"], notice.data["output"], notice.data["exit_code"]) == (
        "error", "all", 2,
    )  # fmt: skip


def test_T61_the_end_of_a_hook_without_a_start_is_shown() -> None:
    story = Story().cli(system("hook_response", hook_id="h", outcome="success", stdout="out"))
    (notice,) = story.notices("hook")
    assert notice.data["output"] == "out"


def test_T62_a_compaction_tells_its_tokens() -> None:
    metadata = {"trigger": "manual", "pre_tokens": 900, "post_tokens": 100}
    story = Story().cli(system("status", status="compacting"), init())
    story.cli(system("compact_boundary", compact_metadata=metadata))
    (notice,) = story.notices("compaction")
    assert (notice.data["pre_tokens"], notice.data["post_tokens"]) == (900, 100)


def test_T62_a_failed_compaction_is_reported() -> None:
    story = Story().cli(init(), system("status", status=None, compact_error="too short"))
    (notice,) = story.notices("compaction")
    assert (notice.text, notice.data["failed"]) == ("too short", True)


def test_T62_the_summary_after_it_is_no_prompt() -> None:
    boundary = system("compact_boundary", compact_metadata={"trigger": "auto"})
    story = Story().host(prompt("go")).cli(init("2.1.38"), boundary)
    story.cli(user("This session is being continued …", isReplay=True), says("on"))
    assert story.shown() == ["prompt go", "notice compaction", "notice injected", "text on"]


@pytest.mark.parametrize("subtype", ["model_fallback", "model_refusal_no_fallback"])
def test_T63_a_change_of_model_is_reported(subtype: str) -> None:
    line = system(subtype, original_model="a", fallback_model="b", content="switched")
    (notice,) = Story().cli(init(), line).notices("fallback")
    assert (notice.text, notice.data["from"]) == ("switched", "a")


@pytest.mark.parametrize("version", ["2.1.29", "2.1.38", "2.1.120", "2.1.220", "2.1.325"])
def test_T64_an_interruption_is_a_notice(version: str) -> None:
    transcript = fold(stream(f"{version}/interrupt_stream"))
    notices = [getattr(item, "notice", "") for item in transcript.items]
    assert notices.count("interrupted") == 1


def test_T65_a_cleared_conversation_is_reported_after_its_command() -> None:
    reset = {"type": "conversation_reset", "uuid": fresh(), "trigger": "clear"}
    story = Story().host(prompt("/clear")).cli(reset, init(session_id="s-2"), result(""))
    assert story.shown() == ["prompt /clear", "notice reset"]
    assert story.transcript.session.previous_ids == ()


def test_T65_a_new_session_id_after_clear_is_reported_as_a_reset() -> None:
    story = Story().cli(init("2.1.120"), result()).host(prompt("/clear"))
    story.cli(init("2.1.120", session_id="s-2"), result(""))
    assert story.shown() == ["prompt /clear", "notice reset"]


def test_T65_a_new_process_with_another_id_is_no_reset() -> None:
    story = Story().host(ProcessStarted()).cli(init(), result())
    story.host(ProcessStarted(resumed="s-1")).cli(init(session_id="s-2"))
    assert story.notices("reset") == []


def test_T66_a_resumed_session_is_reported() -> None:
    story = Story().host(ProcessStarted()).cli(init(), result()).host(ProcessStarted(resumed="s-1"))
    (notice,) = story.notices("resumed")
    assert notice.data["session"] == "s-1"


def test_T67_an_error_of_the_api_is_a_notice_and_no_text() -> None:
    story = Story().cli(init(), says("API Error: 529", error="overloaded", api_error_status=529))
    (notice,) = story.notices("api_error")
    assert (notice.level, notice.data) == ("error", {"error": "overloaded", "status": 529})
    assert story.shown() == ["notice api_error"]


def test_T68_words_the_cli_put_in_are_no_prompt() -> None:
    story = Story().cli(init(), calls("Skill"), gives(), user("skill text", isSynthetic=True))
    assert story.shown() == ["tool Skill done", "notice injected"]


def test_T146_a_hook_belongs_to_the_only_open_call_of_its_tool() -> None:
    pre = {"hook_id": "h", "hook_name": "PreToolUse:Bash", "hook_event": "PreToolUse"}
    story = Story().cli(init(), calls(), system("hook_started", **pre))
    story.cli(system("hook_response", outcome="success", **pre))
    (notice,) = story.notices("hook")
    assert notice.data["tool"] == "tool-1"
    stop = {"hook_id": "s", "hook_name": "Stop", "hook_event": "Stop"}
    story.cli(gives(), system("hook_started", **stop))
    assert story.notices("hook")[1].data["tool"] is None


def test_T146_with_two_open_calls_of_one_tool_a_hook_belongs_to_the_turn() -> None:
    pre = {"hook_id": "h", "hook_name": "PreToolUse:Bash", "hook_event": "PreToolUse"}
    story = Story().cli(init(), calls(), calls(tool_use_id="tool-2"), system("hook_started", **pre))
    (notice,) = story.notices("hook")
    assert notice.data["tool"] is None
