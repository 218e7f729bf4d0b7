"""Money, tokens, context, lines."""

from __future__ import annotations

from typing import Any

import pytest

from fairlead.transcript.state.facts import Accounted, ProcessStarted
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
    prompt,
    result,
    says,
    user,
)


def costs(total: float, **fields: Any) -> Line:
    return result(total_cost_usd=total, **fields)


def of_turns(story: Story) -> list[float | None]:
    return [turn.cost_usd for turn in story.turns()]


def test_T97_a_turn_costs_the_difference_of_the_totals() -> None:
    story = Story().cli(init(), costs(0.10), init(), costs(0.35))
    assert of_turns(story) == [0.10, 0.25]
    assert (story.transcript.ledger.cost_usd, story.transcript.ledger.reported_usd) == (0.35, 0.35)


def test_T141_the_time_of_all_turns_is_summed() -> None:
    story = Story().cli(init(), result(duration_ms=1200), init(), result(duration_ms=800.5))
    assert story.transcript.ledger.duration_ms == 2000.5
    story.cli(init(), result(duration_ms=-5))
    assert story.transcript.ledger.duration_ms == 2000.5


def test_T98_a_total_that_went_down_is_a_restart() -> None:
    story = Story().cli(init(), costs(0.30), init(), costs(0.05))
    assert of_turns(story) == [0.30, 0.05]
    assert story.transcript.ledger.cost_usd == 0.35


def test_T98_the_first_total_of_a_new_process_is_counted_from_zero() -> None:
    story = Story().host(ProcessStarted()).cli(init("2.1.38"), costs(0.10))
    story.host(ProcessStarted(resumed="s-1")).cli(init("2.1.38"), costs(0.25))
    assert of_turns(story) == [0.10, 0.25]


def test_T98_the_first_total_after_a_clear_is_counted_from_zero() -> None:
    story = Story().cli(init(), costs(0.10))
    story.cli({"type": "conversation_reset", "uuid": fresh()}, init(), costs(0.25))
    assert of_turns(story) == [0.10, 0.25]


def test_T99_where_the_cli_gives_the_difference_it_is_taken() -> None:
    spent = {"m": {"costUSD": 0.02, "inputTokens": 7, "outputTokens": 3, "contextWindow": 1000}}
    line = costs(5.02, modelUsage={"m": {"costUSD": 5.02, "inputTokens": 900, "contextWindow": 1000}},
                 model_usage_since_last_result=spent)  # fmt: skip
    story = Story().host(ProcessStarted(resumed="s-1")).cli(init(), line)
    assert of_turns(story) == [0.02]
    assert story.transcript.ledger.reported_usd == 5.02
    assert story.turns()[0].models["m"]["input_tokens"] == 7


def test_T100_tokens_are_summed_for_each_model() -> None:
    def usage(tokens: int) -> dict[str, Any]:
        return {
            "m": {"inputTokens": tokens, "outputTokens": 1, "costUSD": 0.1, "contextWindow": 200}
        }

    story = Story().cli(
        init(), costs(0.1, modelUsage=usage(10)), init(), costs(0.2, modelUsage=usage(25))
    )
    models = story.transcript.ledger.models
    assert (models["m"]["input_tokens"], models["m"]["context_window"]) == (25, 200)
    assert story.turns()[1].models["m"]["input_tokens"] == 15
    story.cli(init(), costs(0.01, modelUsage=usage(4)))
    assert story.transcript.ledger.models["m"]["input_tokens"] == 29


def test_T101_the_answer_to_get_context_usage_is_the_context() -> None:
    answer = {"totalTokens": 50, "maxTokens": 200, "percentage": 25,
              "categories": [{"name": "Messages", "tokens": 50, "kind": "used"}]}  # fmt: skip
    story = Story().host(ask("get_context_usage")).cli(answers(answer))
    context = story.transcript.ledger.context
    assert context is not None
    assert (context["used"], context["window"], context["percentage"]) == (50, 200, 25)
    assert context["categories"] == [{"name": "Messages", "tokens": 50, "kind": "used"}]


def test_T101_an_answer_to_something_else_is_not() -> None:
    story = Story().host(ask("get_settings")).cli(answers({"totalTokens": 50}))
    assert story.transcript.ledger.context is None


MARKDOWN = """## Context Usage

**Model:** m
**Tokens:** 17.3k / 200k (9%)

### Estimated usage by category

| Category | Tokens | Percentage |
|----------|--------|------------|
| System prompt | 14.8k | 7.4% |
| Messages | 1,200 | 0.6% |
| Free space | 1m | 74.9% |

### Skills

| Skill | Source | Tokens |
|-------|--------|--------|
| dataviz | Built-in | ~482 |
"""


def test_T102_old_clis_print_it_as_markdown() -> None:
    line = user(f"<local-command-stdout>{MARKDOWN}</local-command-stdout>", isReplay=True)
    story = Story().host(prompt("/context")).cli(init("2.1.38"), line)
    context = story.transcript.ledger.context
    assert context is not None
    assert (context["used"], context["window"], context["percentage"]) == (17_300, 200_000, 9)
    assert [(category["name"], category["tokens"]) for category in context["categories"]] == [
        ("System prompt", 14_800), ("Messages", 1_200), ("Free space", 1_000_000),
    ]  # fmt: skip


@pytest.mark.parametrize("version", ["2.1.29", "2.1.38", "2.1.120", "2.1.220", "2.1.325"])
def test_T102_every_version_is_understood(version: str) -> None:
    messages = stream(f"{version}/slash_local")
    seen = [fold(messages[:number]).ledger.context for number in range(len(messages))]
    measured = [entry for entry in seen if entry is not None and entry["source"] != "usage"]
    assert measured
    assert measured[0]["window"] in (200_000, 1_000_000)
    assert len(measured[0]["categories"]) >= 4


def test_T103_else_the_last_message_says_how_much_it_was_given() -> None:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 80, "cache_creation_input_tokens": 10}
    line = says("hi", message_fields={"usage": usage})
    story = Story().cli(init(), line)
    context = story.transcript.ledger.context
    assert context is not None
    assert (context["used"], context["window"], context["source"]) == (100, None, "usage")
    story.cli(costs(0.1, modelUsage={"m": {"contextWindow": 200, "inputTokens": 1}}))
    context = story.transcript.ledger.context
    assert context is not None
    assert (context["window"], context["percentage"]) == (200, 50.0)


def edited(name: str, input: Any, structured: Any) -> Story:
    return Story().cli(init(), calls(name, input=input), gives(tool_use_result=structured))


def test_T104_lines_are_counted_from_the_patch() -> None:
    patch = [{"lines": [" one", "-two", "+TWO", "+three"]}]
    story = edited("Edit", {"file_path": "/a"}, {"filePath": "/a", "structuredPatch": patch})
    (file,) = story.transcript.files
    assert (file.id, file.added, file.removed, file.edits, file.created) == ("/a", 2, 1, 1, False)
    ledger = story.transcript.ledger
    assert (ledger.lines_added, ledger.lines_removed, ledger.files_changed) == (2, 1, 1)


def test_T104_a_new_file_is_all_added() -> None:
    created = {"type": "create", "filePath": "/n", "content": "a\nb\n", "structuredPatch": []}
    (file,) = edited("Write", {"file_path": "/n", "content": "a\nb\n"}, created).transcript.files
    assert (file.added, file.removed, file.created) == (2, 0, True)


def test_T104_an_edit_of_a_subagent_is_counted_from_its_input() -> None:
    asked = {"file_path": "/a", "old_string": "x", "new_string": "y\nz"}
    (file,) = edited("Edit", asked, None).transcript.files
    assert (file.added, file.removed) == (2, 1)


def test_T104_a_tool_that_failed_or_is_no_file_tool_counts_nothing() -> None:
    failed = Story().cli(init(), calls("Edit", input={"file_path": "/a"}), gives("no", error=True))
    assert failed.transcript.files == ()
    assert edited("Bash", {"command": "rm a"}, {"stdout": ""}).transcript.files == ()


def test_T105_a_transcript_file_may_say_what_the_session_had_cost() -> None:
    fact = Accounted(total_usd=1.5, models={"m": {"inputTokens": 5, "costUSD": 1.5}})
    ledger = Story().host(fact).transcript.ledger
    assert (ledger.cost_usd, ledger.models["m"]["input_tokens"]) == (1.5, 5)
