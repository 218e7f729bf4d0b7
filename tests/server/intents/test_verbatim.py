"""Whether the CLI may interpret the text of a prompt: set by the intent, and stored with it."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from fairlead.server.protocol.intents import EditPrompt, NewSession, Send
from tests.server.server_harness import ServerHarness

TEXT = "see @/etc/passwd"


def prompts(harness: ServerHarness) -> list[dict[str, Any]]:
    entries = map(json.loads, harness.log.read_text().splitlines())
    return [each for each in entries if isinstance(each, dict) and each.get("type") == "user"]


@pytest.mark.parametrize("verbatim", [True, False, None])
async def test_B50_a_prompt_is_verbatim_unless_a_person_typed_it(
    tmp_path: Path, verbatim: bool | None
) -> None:
    fields: dict[str, Any] = {} if verbatim is None else {"verbatim": verbatim}
    async with ServerHarness(tmp_path) as harness:
        begun = await harness.act(NewSession(cwd=str(harness.project), prompt=TEXT, **fields))
        session = begun.result["session"]
        await harness.until(lambda: len(harness.live(session).transcript.turns) == 1)
        await harness.state(session, "idle")
        sent = await harness.act(Send(session=session, text=TEXT, uuid=str(uuid.uuid4()), **fields))
        assert sent.ok, sent
        await harness.until(lambda: len(prompts(harness)) == 2)
        await harness.state(session, "idle")
    marks = [prompt.get("client_composed") for prompt in prompts(harness)]
    assert marks == ([None, None] if verbatim is False else [True, True])


@pytest.mark.parametrize("verbatim", [True, False])
async def test_B50_a_prompt_that_waits_stays_what_it_was(tmp_path: Path, verbatim: bool) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new(prompt=json.dumps([{"ask": {"id": "a"}}, {"wait": 1}]))
        await harness.state(session, "awaiting_approval")
        waiting = str(uuid.uuid4())
        await harness.act(Send(session=session, text="first", uuid=waiting, verbatim=verbatim))
        edited = await harness.act(EditPrompt(session=session, uuid=waiting, text="/compact @/x"))
        assert edited.ok, edited
        held = harness.live(session).prompts.get(waiting)
        assert held is not None
        assert held.verbatim is verbatim
        item = harness.live(session).transcript.item(waiting)
        assert getattr(item, "command", None) == (None if verbatim else "compact")
        other = EditPrompt(session=session, uuid=waiting, text="x", verbatim=not verbatim)
        assert (await harness.act(other)).ok
        held = harness.live(session).prompts.get(waiting)
        assert held is not None
        assert held.verbatim is not verbatim
