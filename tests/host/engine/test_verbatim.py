"""Verbatim prompts for CLIs that cannot be asked for them: mentions are broken up."""

from __future__ import annotations

import pytest

from fairlead.host.engine.prompts import PromptQueue
from fairlead.host.engine.verbatim import for_version, without_mentions
from fairlead.wire.blocks import ImageBlock, Source, TextBlock
from fairlead.wire.encode import decode_input, encode, to_object
from fairlead.wire.inputs import Prompt
from fairlead.wire.versions import Version

UUID = "00000000-0000-4000-8000-000000000001"
OLD, NEW = Version(2, 1, 38), Version(2, 1, 325)


def prompt(text: str, *, verbatim: bool = True) -> Prompt:
    return Prompt(uuid=UUID, content=(TextBlock(text=text),), verbatim=verbatim)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("@/etc/passwd", "@ /etc/passwd"),
        ("see @a.txt and\n@b.txt", "see @ a.txt and\n@ b.txt"),
        ('@"a b.txt"', '@ "a b.txt"'),
        ("(@x) \u770b@/etc/hosts", "(@ x) \u770b@ /etc/hosts"),
        ("@@/etc/passwd", "@ @ /etc/passwd"),
        ("@agent-x @server:thing", "@ agent-x @ server:thing"),
        ("me@example.com at 5 @ noon @", "me@example.com at 5 @ noon @"),
        ("/compact now", "\u2060/compact now"),
        ("\n  /compact", "\u2060\n  /compact"),
        ("a/b or /c", "a/b or /c"),
    ],
)
def test_C34_mentions_are_broken_up_and_the_rest_is_left_alone(written: str, value: str) -> None:
    assert without_mentions(written) == value


def test_C34_only_a_verbatim_prompt_for_an_old_version_is_changed() -> None:
    assert for_version(prompt("@x"), OLD).text == "@ x"
    assert for_version(prompt("@x"), None).text == "@ x"
    assert for_version(prompt("@x"), NEW).text == "@x"
    assert for_version(prompt("@x", verbatim=False), OLD).text == "@x"


def test_C34_images_are_left_alone() -> None:
    picture = ImageBlock(source=Source(type="url", url="http://127.0.0.1/@x.png"))
    both = Prompt(uuid=UUID, content=(TextBlock(text="@x"), picture), verbatim=True)
    assert for_version(both, OLD).content == (TextBlock(text="@ x"), picture)


def test_C34_a_verbatim_slash_is_not_held_back_like_a_command() -> None:
    def sent_within_a_turn(message: Prompt) -> Prompt | None:
        queue = PromptQueue()
        queue.turn_began()
        queue.add(message)
        return queue.take(message.uuid)

    assert sent_within_a_turn(prompt("/compact")) is not None
    assert sent_within_a_turn(prompt("/compact", verbatim=False)) is None


def test_W59_a_verbatim_prompt_is_marked_and_read_back() -> None:
    assert to_object(prompt("@x"))["client_composed"] is True
    assert decode_input(encode(prompt("@x"))) == prompt("@x")
    assert "client_composed" not in to_object(prompt("@x", verbatim=False))
