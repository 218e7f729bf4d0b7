"""Prompts that the CLI passes to the model as they were written.

A CLI interprets some parts of a prompt: `@path` attaches a file from anywhere on the machine
without a permission request, `@server:resource` an MCP resource, and a leading `/` runs a
command. That is right for a user at the keyboard and wrong for text from another source,
such as a file. From 2.1.325 on (measured) the CLI passes such a prompt on unchanged, if the line
carries `client_composed`. Earlier CLIs ignore that mark, so each mention is broken up in a way
that no version reads as one: a space after the `@`, and an invisible word joiner before a
leading `/`. Pure.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from fairlead.wire.blocks import Block, TextBlock
from fairlead.wire.inputs import Prompt
from fairlead.wire.versions import Feature, Version

__all__ = ["for_version", "without_mentions"]

_MENTION = re.compile(r"(?<![A-Za-z0-9_])@(?=\S)")
"""An `@` that a mention could begin with: not the one of an e-mail address, and not one that is
followed by a space, because every version expects the path right after it."""

_COMMAND = re.compile(r"\A(?=\s*/)")

WORD_JOINER = "\u2060"
"""Invisible and, unlike a space, not trimmed by the CLI before it looks for a command."""


def for_version(prompt: Prompt, version: Version | None) -> Prompt:
    """The prompt in the form that keeps a verbatim prompt verbatim on this version."""
    if not prompt.verbatim or (version is not None and version.has(Feature.CLIENT_COMPOSED)):
        return prompt
    return replace(prompt, content=tuple(_inert(block) for block in prompt.content))


def without_mentions(text: str) -> str:
    """The text with a space in every mention and no command at its beginning."""
    return _COMMAND.sub(WORD_JOINER, _MENTION.sub("@ ", text))


def _inert(block: Block) -> Block:
    if not isinstance(block, TextBlock):
        return block
    return replace(block, text=without_mentions(block.text))
