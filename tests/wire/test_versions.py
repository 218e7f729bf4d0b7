"""Versions as values, and the table of what each one does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.wire.versions import (
    MEASURED,
    NEWEST_MEASURED,
    OLDEST,
    Feature,
    Span,
    Version,
    features,
)
from tests.wire.recorded import VERSIONS, scenario

numbers = st.integers(min_value=0, max_value=999_999_999)
versions = st.builds(Version, numbers, numbers, numbers)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("2.1.325 (Claude Code)", Version(2, 1, 325)),
        ("2.1.38", Version(2, 1, 38)),
        ("2.1.38\n", Version(2, 1, 38)),
        ("v2.1.38", Version(2, 1, 38)),
        ("claude 2.1.38", Version(2, 1, 38)),
        ("2.2", Version(2, 2, 0)),
        ("3.0.0-beta.1 (Claude Code)", Version(3, 0, 0)),
        ("2.1.325+build.7", Version(2, 1, 325)),
        ("1.0.128 (Claude Code)", Version(1, 0, 128)),
        ("warning: slow\n2.1.120 (Claude Code)", Version(2, 1, 120)),
    ],
)
def test_a_version_is_found_in_what_a_cli_says(text: str, version: Version) -> None:
    assert Version.parse(text) == version


@pytest.mark.parametrize("text", ["", "Claude Code", "2", "two.one", "a2.1.3x", ".2.3.4"])
def test_a_text_without_a_version_gives_none(text: str) -> None:
    assert Version.parse(text) is None


@pytest.mark.parametrize("version", VERSIONS)
def test_the_answer_of_each_recorded_cli_is_read(version: str) -> None:
    output = b"".join(e.line for e in scenario(version, "version") if e.direction == "out")
    assert str(Version.parse(output.decode())) == version


def test_a_suffix_is_printed_but_does_not_count() -> None:
    beta = Version.parse("2.1.325-beta.2")
    assert beta is not None
    assert str(beta) == "2.1.325-beta.2"
    assert beta == Version(2, 1, 325)
    assert hash(beta) == hash(Version(2, 1, 325))


@given(versions)
def test_what_is_printed_is_read_again(version: Version) -> None:
    assert Version.parse(str(version)) == version


@given(versions, versions)
def test_versions_are_ordered_by_their_numbers(one: Version, other: Version) -> None:
    order = (one.major, one.minor, one.patch) < (other.major, other.minor, other.patch)
    assert (one < other) is order


@given(st.text())
def test_no_text_makes_parsing_fail(text: str) -> None:
    assert isinstance(Version.parse(text), Version | None)


def test_the_measured_versions_are_the_recorded_ones_in_order() -> None:
    assert tuple(map(str, MEASURED)) == VERSIONS
    assert sorted(MEASURED) == list(MEASURED)
    assert (MEASURED[0], MEASURED[-1]) == (OLDEST, NEWEST_MEASURED)


AT = {
    # feature:                    2.1.29 2.1.38 2.1.120 2.1.220 2.1.325
    "kills_on_unknown_stdin": "yy...",
    "unknown_control_is_silent": "yy...",
    "double_mode_answer": "yy...",
    "checks_mode": "...yy",
    "allow_needs_input": "yyy..",
    "reinitialize_is_an_error": "yyy..",
    "cancels_queued": "...yy",
    "client_composed": "....y",
    "merges_queued_prompts": "..yyy",
    "command_lifecycle": "...yy",
    "capabilities": "...yy",
    "still_queued": "...yy",
    "interrupt_is_error": "..yyy",
    "api_retry": "..yyy",
    "session_state_events": "..yyy",
    "slash_output_is_assistant": "..yyy",
    "unknown_slash_goes_to_model": "....y",
    "task_events": "..yyy",
    "plan_in_input": "yyyy.",
    "cost_continues_on_resume": "....y",
    "hook_callback_fails_closed": "....y",
    "auth_status": "..yyy",
    "auto_mode": "..yyy",
    "delegate_mode": "yy...",
    "resume_by_title": "..yyy",
    "fallback_list": "...yy",
    "effort_xhigh": "..yyy",
    "thinking_highlights": "....y",
    "todo_write": "yyy..",
    "glob_and_grep": "yyy..",
    "schema_loops": "yyy..",
    "dies_on_bad_mcp_config": "yy...",
    "applies_settings": "....y",
}


@pytest.mark.parametrize("feature", Feature, ids=lambda feature: feature.label)
def test_each_feature_is_there_where_it_was_measured(feature: Feature) -> None:
    seen = "".join("y" if version.has(feature) else "." for version in MEASURED)
    assert seen == AT[feature.label]


def test_the_table_above_names_every_feature_once() -> None:
    assert set(AT) == {feature.label for feature in Feature}
    assert all(feature.label == feature.name.lower() for feature in Feature)


@pytest.mark.parametrize("version", [Version(2, 1, 326), Version(2, 2, 0), Version(9, 0, 0)])
def test_a_version_of_the_future_behaves_like_the_newest_measured(version: Version) -> None:
    assert features(version) == features(NEWEST_MEASURED)


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (Span(), "every version"),
        (Span(since=Version(2, 1, 38)), "2.1.38 and later"),
        (Span(until=Version(2, 1, 38)), "before 2.1.38"),
        (Span(Version(2, 1, 30), Version(2, 1, 38)), "2.1.30 and later, before 2.1.38"),
    ],
)
def test_a_span_says_in_words_where_it_begins_and_ends(span: Span, text: str) -> None:
    assert str(span) == text


def test_a_span_holds_its_beginning_but_not_its_end() -> None:
    span = Span(Version(2, 1, 30), Version(2, 1, 38))
    inside = [patch for patch in range(28, 40) if Version(2, 1, patch) in span]
    assert inside == list(range(30, 38))
