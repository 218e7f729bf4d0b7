"""Images and documents for a prompt, from a file or from bytes."""

from __future__ import annotations

import base64
from pathlib import Path

from fairlead.errors import UsageError
from fairlead.wire.blocks import DocumentBlock, ImageBlock, Source
from fairlead.wire.inputs import IMAGE_MEDIA_TYPES

__all__ = ["MAX_ATTACHMENT_BYTES", "document", "image"]

MAX_ATTACHMENT_BYTES = 32 * 1024 * 1024
"""The API's limit for a whole request; one file above it can never be sent."""

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
)


def image(content: str | Path | bytes, media_type: str | None = None) -> ImageBlock:
    """An image block; the type is detected from the first bytes unless it is given."""
    data = _read(content)
    kind = media_type or _image_type(data)
    if kind not in IMAGE_MEDIA_TYPES:
        raise UsageError(f"an image must be one of {', '.join(IMAGE_MEDIA_TYPES)}")
    return ImageBlock(source=_inline(data, kind))


def document(
    content: str | Path | bytes, media_type: str = "application/pdf", *, title: str | None = None
) -> DocumentBlock:
    """A document block, a PDF unless another type is given."""
    return DocumentBlock(source=_inline(_read(content), media_type), title=title)


def _read(content: str | Path | bytes) -> bytes:
    if isinstance(content, bytes):
        data = content
    else:
        try:
            data = Path(content).read_bytes()
        except OSError as problem:
            raise UsageError(f"cannot read {str(content)!r}: {problem.strerror}") from None
    if not data:
        raise UsageError("an attachment cannot be empty")
    if len(data) > MAX_ATTACHMENT_BYTES:
        raise UsageError(
            f"an attachment of {len(data):,} bytes is above the limit of {MAX_ATTACHMENT_BYTES:,}"
        )
    return data


def _inline(data: bytes, media_type: str) -> Source:
    return Source(type="base64", media_type=media_type, data=base64.b64encode(data).decode())


def _image_type(data: bytes) -> str:
    for signature, kind in _SIGNATURES:
        if data.startswith(signature):
            return kind
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return "unknown"
