"""Content of messages, split into what is shown apart: words, pictures, everything else.

Used for prompts and for tool results.
"""

from __future__ import annotations

from typing import Any

import msgspec

from fairlead.wire.blocks import Content, ImageBlock, TextBlock, UnknownBlock

__all__ = ["Parts", "as_plain", "split"]

Parts = tuple[str, tuple[Any, ...], tuple[Any, ...]]
"""The words, the pictures, and the blocks of other kinds."""


def split(content: Content) -> Parts:
    """The parts of typed content."""
    if content is None or isinstance(content, str):
        return content or "", (), ()
    images = tuple(as_plain(block) for block in content if isinstance(block, ImageBlock))
    others = tuple(
        as_plain(block) for block in content if not isinstance(block, TextBlock | ImageBlock)
    )
    texts = [block.text for block in content if isinstance(block, TextBlock)]
    return "\n".join(texts), images, others


def as_plain(block: Any) -> Any:
    """A block as the plain object it came from."""
    return block.data if isinstance(block, UnknownBlock) else msgspec.to_builtins(block)
