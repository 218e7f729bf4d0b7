"""Side requests are distinguished from turns, for every request in the recordings."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fairlead.model_api.replies import Text
from fairlead.model_api.request import ModelRequest
from fairlead.model_api.side_request import SIDE_KINDS, kind_of, side_answer

RECORDINGS = Path(__file__).parents[1] / "recordings"

EXPECTED = {
    "2.1.29": {"paths": 28, "prefix": 21},
    "2.1.38": {"paths": 50, "prefix": 27},
    "2.1.120": {},
    "2.1.220": {},
    "2.1.325": {"aside": 1, "probe": 2, "title": 1},
}
"""Side requests in all recordings of a version; read one by one when this table was made."""

TITLE_SCHEMA = {
    "type": "object",
    "properties": {"title": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
}
VERDICT_SCHEMA = {
    "type": "object",
    "properties": {
        "ok": {"type": "boolean"},
        "reason": {"type": "string"},
        "level": {"enum": ["low", "high"]},
        "score": {"type": "integer"},
        "notes": {"type": "array"},
        "none": {"type": "null"},
    },
}


def recorded_requests(version: str) -> list[ModelRequest]:
    """The requests of a version to its model: the recordings have the fields that matter here."""
    requests = []
    for path in sorted((RECORDINGS / version).glob("*.ndjson")):
        for line in path.read_text("utf-8").splitlines():
            record = json.loads(line)
            if record["dir"] == "api":
                requests.append(request_of(record["msg"]))
    return requests


def request_of(recorded: dict[str, Any]) -> ModelRequest:
    method, path, _ = recorded["line"].split()
    body = {
        "max_tokens": recorded.get("max_tokens"),
        "tools": [{"name": name} for name in recorded.get("tools") or ()],
        "messages": recorded.get("recent") or [],
    }
    return ModelRequest(number=1, method=method, path=path, headers={}, body=body)


@pytest.mark.parametrize("version", EXPECTED)
def test_every_recorded_side_request_is_recognized(version: str) -> None:
    kinds = Counter(request.kind for request in recorded_requests(version))
    side = {kind: count for kind, count in kinds.items() if kind in SIDE_KINDS}
    assert side == EXPECTED[version]


@pytest.mark.parametrize("version", EXPECTED)
def test_every_recorded_turn_offers_tools_and_no_side_request_but_an_aside_does(
    version: str,
) -> None:
    messages = [request for request in recorded_requests(version) if request.is_messages]
    assert messages
    for request in messages:
        assert bool(request.tools) == (request.kind in ("turn", "aside"))


@pytest.mark.parametrize(
    ("body", "prompt", "kind"),
    [
        ({"max_tokens": 1}, "quota", "probe"),
        ({"output_config": {"format": {"schema": TITLE_SCHEMA}}}, "x", "title"),
        ({"output_config": {"format": {"schema": VERDICT_SCHEMA}}}, "x", "verdict"),
        ({"output_format": {"schema": VERDICT_SCHEMA}}, "x", "verdict"),
        ({"output_config": {"effort": "medium"}}, "x", "turn"),
        ({"tools": [{"type": "web_search_20250305"}]}, "x", "web_search"),
        ({"tools": [{"name": "WebSearch"}]}, "x", "turn"),
        ({}, "Your task is to create a detailed summary of the conversation", "compact"),
        ({"tools": [{"name": "Bash"}]}, "CRITICAL\nYour task is to create a detailed summary of", "compact"),
        ({"tools": [{"name": "Bash"}]}, "[SUGGESTION MODE: what next", "suggestion"),
        (
            {"tools": [{"name": "Bash"}]},
            "Describe your most recent action in 3-5 words using present tense (-ing).",
            "progress",
        ),
        ({}, "\nWeb page content:\n---", "web_page"),
        ({}, "Command: ls\nOutput: a", "paths"),
        ({"tools": [{"name": "Bash"}]}, "Command: ls\nOutput: a", "turn"),
        ({}, "Files modified by user:\n     7 a.py\n\nFiles modified by other users:", "history"),
        ({"tools": [{"name": "Bash"}]}, "Files modified by user: which are they?", "turn"),
        ({}, "<transcript>\n\nUser: go\n\nBash touch x\n\n</transcript>\n", "monitor"),
        ({}, "hello", "turn"),
    ],
)  # fmt: skip
def test_the_kind_of_a_request_follows_from_its_content(
    body: dict[str, Any], prompt: str, kind: str
) -> None:
    assert kind_of(body, prompt) == kind


@pytest.mark.parametrize("kind", SIDE_KINDS)
def test_every_kind_has_an_answer_with_text(kind: str) -> None:
    (block,) = side_answer(kind, {}).blocks
    assert isinstance(block, Text)
    assert block.text


def test_a_schema_is_answered_with_an_object_that_fits_it() -> None:
    answer = side_answer("verdict", {"output_config": {"format": {"schema": VERDICT_SCHEMA}}})
    (block,) = answer.blocks
    assert isinstance(block, Text)
    assert json.loads(block.text) == {
        "ok": True,
        "reason": "Scripted",
        "level": "low",
        "score": 0,
        "notes": [],
        "none": None,
    }
