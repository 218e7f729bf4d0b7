"""What the CLI reads into a prompt, and what it does not once the prompt is verbatim."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from fairlead import ask
from fairlead.host.client import PromptContent
from fairlead.wire.events import Result
from tests.e2e.real_cli.cli_harness import CliHarness, ScriptedDecisions, one_of, play

SECRET = "the-word-that-must-stay-outside"


def sent_to_the_model(harness: CliHarness) -> str:
    """Everything that the model was sent, in one text."""
    return "\n".join(json.dumps(request.body) for request in harness.model.requests)


def mentions(*paths: str) -> list[PromptContent]:
    """Ways to mention a file that the CLI reads as one, each with a file of its own."""
    ways: list[Callable[[str], PromptContent]] = [
        lambda path: f"@{path}",
        lambda path: f"Compare with @{path} please.",
        lambda path: f'see @"{path}"',
        lambda path: f"first\n@{path}\nlast",
        lambda path: f"see @{path}#L1-2",
        lambda path: ["look", f"see @{path}"],
    ]
    return [way(path) for way, path in zip(ways, paths, strict=True)]


async def test_C34_a_mention_in_a_verbatim_prompt_attaches_no_file(harness: CliHarness) -> None:
    secrets = [f"{SECRET}-{number}" for number in range(6)]
    files = [str(harness.outside(f"{secret}.txt", f"content {secret}")) for secret in secrets]
    decisions = ScriptedDecisions()
    async with harness.session(on_permission=decisions) as session:
        for prompt in mentions(*files):
            assert (await (await session.send(prompt, verbatim=True))).ok
        assert len(harness.model.requests) >= len(files)
        assert f"content {SECRET}" not in sent_to_the_model(harness)
        # The same words typed by a person do attach it, and nobody is asked.
        for secret, prompt in zip(secrets, mentions(*files), strict=True):
            await play(session, prompt)
            assert f"content {secret}" in sent_to_the_model(harness), prompt
    assert decisions.asked == []


async def test_C34_what_a_relative_path_leads_to_is_not_attached_either(
    harness: CliHarness,
) -> None:
    harness.outside("secret.txt", SECRET)
    async with harness.session() as session:
        for prompt in ("@../outside/secret.txt", "@/../../../outside/secret.txt", "@@../outside/"):
            await (await session.send(prompt, verbatim=True))
    assert SECRET not in sent_to_the_model(harness)
    assert "secret.txt" not in sent_to_the_model(harness).replace("outside/secret.txt", "")


async def test_C34_a_verbatim_prompt_runs_no_command(harness: CliHarness) -> None:
    prompts = ("/context", "  /context", "/help me")
    async with harness.session() as session:
        for number, prompt in enumerate(prompts, 1):
            turn = await session.send(prompt, verbatim=True)
            messages = [message async for message in turn]
            assert one_of(Result, messages).text == "Done."
            last = harness.model.requests[-1].body["messages"]
            texts = [text.strip("\u2060 ") for text in texts_of(last)]
            assert texts.count(prompt.strip()) == sum(
                earlier.strip() == prompt.strip() for earlier in prompts[:number]
            )


async def test_C34_a_verbatim_prompt_reaches_the_model_word_for_word(harness: CliHarness) -> None:
    text = "Mail me@example.com at 5 @ noon: 3 > 2 & \u00e4\u00f6\u00fc \U0001f600"
    async with harness.session() as session:
        await (await session.send(text, verbatim=True))
    assert text in user_texts(harness)


async def test_C34_ask_is_verbatim_by_default(harness: CliHarness) -> None:
    path = harness.outside("secret.txt", SECRET)
    assert (await ask(f"read @{path}", harness.options())).ok
    assert SECRET not in sent_to_the_model(harness)
    assert (await ask(f"read @{path}", harness.options(), verbatim=False)).ok
    assert SECRET in sent_to_the_model(harness)


def user_texts(harness: CliHarness) -> list[str]:
    """Each text block that the model was sent in any request."""
    return [
        text
        for request in harness.model.requests
        for text in texts_of(request.body.get("messages", ()))
    ]


def texts_of(messages: Iterable[Any]) -> list[str]:
    """The text blocks of messages."""
    texts: list[str] = []
    for message in messages:
        content: Any = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        texts += [block["text"] for block in blocks if block["type"] == "text"]
    return texts
