"""The reduction of host scripts: what is left cannot be made smaller."""

from __future__ import annotations

import json

from tests.e2e.conversations.generator import generate_all
from tests.e2e.conversations.host_script import HostScript
from tests.e2e.conversations.shrinking import candidates, is_playable, shrink


async def test_only_the_parts_that_show_the_difference_are_left() -> None:
    script = HostScript(
        name="x",
        theme="x",
        flags=["--include-partial-messages", "--permission-mode", "plan", "--max-turns", "2"],
        env={"A": "1"},
        files={"project/a.txt": "one", "project/b.txt": "two"},
        hooks={"first": [{}], "second": [{}]},
        permissions=["allow", "deny"],
        replies=[
            {"blocks": [{"type": "text", "text": "1"}], "segment": 0},
            {
                "blocks": [
                    {"type": "text", "text": "2"},
                    {"type": "tool_use", "id": "t", "name": "Bash", "input": {}},
                ],
                "piece": 8,
                "segment": 1,
            },
        ],
        steps=[
            {
                "request": {"subtype": "initialize", "hooks": {"Stop": [], "PreToolUse": []}},
                "segment": -1,
            },
            {"wait": "answered", "segment": -1},
            {"prompt": "one", "segment": 0},
            {"wait": "result", "segment": 0},
            {"prompt": "two", "segment": 1},
            {"prompt": "three", "segment": 1},
            {"wait": "result", "segment": 1},
        ],
    )
    plays = 0

    async def shows(candidate: HostScript) -> bool:
        nonlocal plays
        plays += 1
        text = json.dumps(candidate.to_json())
        return all(word in text for word in ("plan", '"Bash"', '"Stop"', '"three"', "b.txt"))

    small = await shrink(script, shows)
    assert small.to_json() == {
        **HostScript(name="x", theme="x").to_json(),
        "flags": ["--permission-mode", "plan"],
        "files": {"project/b.txt": "two"},
        "replies": [
            {
                "blocks": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}],
                "segment": 1,
            }
        ],
        "steps": [
            {"request": {"subtype": "initialize", "hooks": {"Stop": []}}, "segment": -1},
            {"prompt": "three", "segment": 1},
        ],
    }
    assert plays < 60


def test_each_candidate_is_smaller_and_a_script_that_only_waits_is_not_played() -> None:
    for script in generate_all(60):
        size = len(json.dumps(script.to_json()))
        assert all(len(json.dumps(c.to_json())) < size for c in candidates(script))
    assert not is_playable(HostScript(name="x", theme="x", steps=[{"wait": "result"}]))
    assert is_playable(HostScript(name="x", theme="x", steps=[{"line": "x"}, {"wait": "result"}]))
