"""Converts what a tool returns to an MCP result that reaches the model completely.

    str, number, bool, None          text (None and empty text: no content)
    dict, dataclass, Struct, model   JSON text, and the same as structuredContent
    bytes, Image                     an image
    content block, list with blocks  those blocks; other members become text
    {"content": [...], "isError"…}   a complete MCP result, checked
    any other list                   JSON text

The CLI replaces all text by structuredContent, and old versions replace images too (CLI-805), so
both are sent together only if they have the same content. Never raises: a value that cannot be
sent becomes a failed result whose text tells the author of the tool what to return.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import msgspec

__all__ = [
    "Image",
    "failed_result",
    "json_text",
    "plain",
    "text_block",
    "tool_result",
    "without_loss",
]

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
)
_REQUIRED_TEXT = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("uri", "name"),
    "resource": (),
}
_OPTIONAL = {
    "text": frozenset({"annotations", "_meta"}),
    "image": frozenset({"annotations", "_meta"}),
    "audio": frozenset({"annotations", "_meta"}),
    "resource_link": frozenset(
        {"title", "description", "mimeType", "size", "icons", "annotations", "_meta"}
    ),
    "resource": frozenset({"resource", "annotations", "_meta"}),
}
_RESULT_KEYS = frozenset(
    {"content", "structuredContent", "isError", "is_error", "_meta", "resultType"}
)


class _NotSendable(ValueError):
    """A returned value that has no form in MCP; the text says what to return instead."""


class Image:
    """An image that a tool returns; the type is detected from the bytes if it is not given."""

    # Not a dataclass: msgspec would write it inside data as base64 text, and the image would be lost.
    __slots__ = ("data", "mime_type")

    def __init__(self, data: bytes, mime_type: str = "") -> None:
        self.data = data
        self.mime_type = mime_type

    def __repr__(self) -> str:
        return f"Image({len(self.data)} bytes, {self.mime_type!r})"

    def block(self) -> dict[str, Any]:
        """The image as an MCP content block."""
        mime_type = self.mime_type or _image_type(self.data)
        return {
            "type": "image",
            "data": base64.b64encode(self.data).decode("ascii"),
            "mimeType": mime_type,
        }


def tool_result(value: Any) -> dict[str, Any]:
    """The MCP result for what a tool returned; never raises."""
    try:
        return _result(value)
    except _NotSendable as error:
        return failed_result(str(error))
    except Exception as error:  # noqa: BLE001 - user objects may raise anything when they are read
        return failed_result(
            f"The tool returned a {type(value).__name__} that cannot be sent: "
            f"{type(error).__name__}: {error}"
        )


def failed_result(text: str) -> dict[str, Any]:
    """A result that tells the model that the call failed, and why."""
    return {
        "content": [text_block(text or "The tool failed without an error message.")],
        "isError": True,
    }


def text_block(text: str) -> dict[str, Any]:
    """Text as an MCP content block; a lone surrogate, which UTF-8 cannot encode, is escaped."""
    return {"type": "text", "text": text.encode("utf-8", "backslashreplace").decode()}


def json_text(value: Any) -> str:
    """A value as JSON text; types that JSON lacks are converted to the nearest one."""
    return msgspec.json.encode(value, enc_hook=_write_custom_type).decode()


def plain(value: Any) -> Any:
    """A copy of a value that consists of JSON types only."""
    return msgspec.json.decode(json_text(value))


def without_loss(result: dict[str, Any]) -> dict[str, Any]:
    """The result with its structuredContent moved into the text where it would hide content."""
    structured = result.get("structuredContent")
    content = result.get("content")
    if structured is None or not isinstance(content, list):
        return result
    if not content:
        return {**result, "content": [text_block(json_text(structured))]}
    if _is_same_content(content, structured):
        return result
    rest = {key: value for key, value in result.items() if key != "structuredContent"}
    text = json_text(structured)
    if not any(_equals(block, structured) or _is_repeated(block, text) for block in content):
        rest["content"] = [*content, text_block(text)]
    return rest


def _result(value: Any) -> dict[str, Any]:
    value = _unwrapped(value)
    if isinstance(value, Mapping) and _is_complete(value):
        return _checked_result(value)
    if value is None:
        return {"content": []}
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        members = [_unwrapped(member) for member in value]
        if any(_is_content(member) for member in members):
            return {"content": _blocks(members)}
    elif isinstance(value, str) or (_is_content(value) and _has_required(value)):
        return {"content": _blocks([value])}
    return _data_result(value)


def _unwrapped(value: Any) -> Any:
    # pydantic models, those of the `mcp` package among them, without importing pydantic.
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return dump(mode="json", by_alias=True)
    return value


def _is_complete(value: Mapping[Any, Any]) -> bool:
    content = value.get("content")
    return (
        isinstance(content, list | tuple)
        and set(value) <= _RESULT_KEYS
        and all(_is_content(_unwrapped(member)) for member in content)
    )


def _checked_result(value: Mapping[Any, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {"content": _blocks([_unwrapped(each) for each in value["content"]])}
    structured = value.get("structuredContent")
    if structured is not None:
        if not isinstance(_unwrapped(structured), Mapping):
            raise _NotSendable("The tool's structuredContent must be an object.")
        result["structuredContent"] = plain(structured)
    if value.get("isError") or value.get("is_error"):
        result["isError"] = True
    if value.get("_meta"):
        result["_meta"] = plain(value["_meta"])
    return without_loss(result)


def _is_content(value: Any) -> bool:
    if isinstance(value, Image | bytes | bytearray):
        return True
    # Data may have a field `type` too: only what has the fields of a block counts as a block.
    if not isinstance(value, Mapping) or value.get("type") not in _REQUIRED_TEXT:
        return False
    kind = value["type"]
    return set(value) <= {"type", *_REQUIRED_TEXT[kind], *_OPTIONAL[kind]}


def _has_required(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return True
    kind = value["type"]
    return all(isinstance(value.get(name), str) for name in _REQUIRED_TEXT[kind]) and (
        kind != "resource" or isinstance(value.get("resource"), Mapping)
    )


def _blocks(values: list[Any]) -> list[dict[str, Any]]:
    # 2.1.38 passes an empty text on, and the Messages API then refuses the whole turn.
    return [block for block in map(_block, values) if block.get("text") != ""]


def _block(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return text_block(value)
    if isinstance(value, Image):
        return value.block()
    if isinstance(value, bytes | bytearray):
        return Image(bytes(value)).block()
    if _is_content(value):
        return _checked_block(value)
    return text_block(json_text(value))


def _checked_block(value: Mapping[Any, Any]) -> dict[str, Any]:
    kind = value["type"]
    for name in _REQUIRED_TEXT[kind]:
        if not isinstance(value.get(name), str):
            raise _NotSendable(f"The tool returned a {kind} block without the text `{name}`.")
    if kind == "resource":
        inner = _unwrapped(value.get("resource"))
        if not isinstance(inner, Mapping) or not isinstance(inner.get("uri"), str):
            raise _NotSendable("The tool returned a resource block without a resource and its uri.")
    block: dict[str, Any] = plain({key: item for key, item in value.items() if item is not None})
    return block


def _data_result(value: Any) -> dict[str, Any]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        # As text, because a number may be too large for JSON, or NaN.
        return {"content": [text_block(str(value))]}
    data = plain(value)
    if isinstance(data, dict):
        return {"content": [text_block(json_text(data))], "structuredContent": data}
    return {"content": [text_block(data if isinstance(data, str) else json_text(data))]}


def _is_same_content(content: list[Any], structured: Any) -> bool:
    return len(content) == 1 and _equals(content[0], structured)


def _equals(block: Any, structured: Any) -> bool:
    if not isinstance(block, Mapping) or block.get("type") != "text":
        return False
    try:
        return bool(msgspec.json.decode(block["text"]) == structured)
    except (msgspec.DecodeError, UnicodeEncodeError, KeyError, TypeError, RecursionError):
        return False


def _is_repeated(block: Any, text: str) -> bool:
    # Some servers repeat an image in the structured part: as text it would only cost tokens.
    data = block.get("data") if isinstance(block, Mapping) else None
    return isinstance(data, str) and bool(data) and data in text


def _write_custom_type(value: Any) -> Any:
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Image):
        raise _NotSendable("An image inside data would be lost. Return a list: [data, image].")
    unwrapped = _unwrapped(value)
    if unwrapped is not value:
        return unwrapped
    if isinstance(value, Mapping):
        return dict(value)
    raise _NotSendable(
        f"The tool returned a {type(value).__module__}.{type(value).__qualname__}, which has no "
        "form in JSON. Return text, a dict, a dataclass, an Image, or a list of these."
    )


def _image_type(data: bytes) -> str:
    for signature, mime_type in _SIGNATURES:
        if data.startswith(signature):
            return mime_type
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    raise _NotSendable(
        f"The tool returned {len(data)} bytes that are not a PNG, JPEG, GIF or WebP image. "
        "Return text, or Image(data, mime_type)."
    )
