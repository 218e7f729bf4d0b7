"""What a tool may return, and what the CLI is given for it."""

from __future__ import annotations

import base64
import datetime
import json
import uuid
from collections import namedtuple
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from fairlead.host.mcp.results import Image, failed_result, tool_result, without_loss

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
PNG_BLOCK = {"type": "image", "data": base64.b64encode(PNG).decode(), "mimeType": "image/png"}


GIF_ALONE = {"content": [{"type": "image", "data": "R0lGOA==", "mimeType": "image/gif"}]}


def text(*texts: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": each} for each in texts]}


class Size(Enum):
    BIG = "big"


@dataclass
class Found:
    path: Path
    size: Size


class Total(msgspec.Struct):
    total: int


class Model(BaseModel):
    count: int
    note: str | None = None


Pair = namedtuple("Pair", ["a", "b"])

AS_TEXT = [
    pytest.param("hello", text("hello"), id="text"),
    pytest.param("", {"content": []}, id="empty text"),
    pytest.param(["", Image(b"GIF8"), ""], GIF_ALONE, id="empty text beside an image"),
    pytest.param(None, {"content": []}, id="None"),
    pytest.param(7, text("7"), id="int"),
    pytest.param(2**80, text(str(2**80)), id="an int larger than JSON readers take"),
    pytest.param(0.5, text("0.5"), id="float"),
    pytest.param(float("nan"), text("nan"), id="not a number"),
    pytest.param(True, text("true"), id="bool"),
    pytest.param([1, "a"], text('[1,"a"]'), id="list of data"),
    pytest.param(["a", "b"], text('["a","b"]'), id="list of text is data"),
    pytest.param([], text("[]"), id="empty list"),
    pytest.param((1, 2), text("[1,2]"), id="tuple"),
    pytest.param(Pair(1, PNG[:2]), text('[1,"iVA="]'), id="namedtuple"),
    pytest.param(Size.BIG, text("big"), id="Enum"),
    pytest.param(Path("a/b"), text("a/b"), id="Path"),
    pytest.param(datetime.date(2026, 1, 2), text("2026-01-02"), id="date"),
    pytest.param(uuid.UUID(int=1), text("00000000-0000-0000-0000-000000000001"), id="UUID"),
    pytest.param("\ud800", text("\\ud800"), id="lone surrogate"),
]


@pytest.mark.parametrize(("value", "expected"), AS_TEXT)
def test_a_simple_value_becomes_text(value: Any, expected: dict[str, Any]) -> None:
    assert tool_result(value) == expected


STRUCTURED = [
    pytest.param({"a": 1}, {"a": 1}, id="dict"),
    pytest.param({1: "a"}, {"1": "a"}, id="dict with numbers as keys"),
    pytest.param({}, {}, id="empty dict"),
    pytest.param({"a": 2**80}, {"a": 2**80}, id="large number"),
    pytest.param(Found(Path("x"), Size.BIG), {"path": "x", "size": "big"}, id="dataclass"),
    pytest.param(Total(3), {"total": 3}, id="Struct"),
    pytest.param(Model(count=2), {"count": 2, "note": None}, id="pydantic model"),
    pytest.param({"inner": Model(count=2)}, {"inner": {"count": 2, "note": None}}, id="inside"),
    pytest.param(MappingProxyType({"a": 1}), {"a": 1}, id="read-only mapping"),
    pytest.param({"x": float("inf")}, {"x": None}, id="infinity has no word in JSON"),
    pytest.param({"type": "text"}, {"type": "text"}, id="data with a field named type"),
    pytest.param(
        {"type": "text", "text": "a", "size": 3},
        {"type": "text", "text": "a", "size": 3},
        id="more than a block",
    ),
    pytest.param({"content": "a"}, {"content": "a"}, id="data with a field named content"),
    pytest.param({"content": ["a"]}, {"content": ["a"]}, id="a list of content that is none"),
]


@pytest.mark.parametrize(("value", "data"), STRUCTURED)
def test_data_is_sent_as_text_and_structured_alike(value: Any, data: dict[str, Any]) -> None:
    result = tool_result(value)
    assert result["structuredContent"] == data
    assert json.loads(result["content"][0]["text"]) == data
    assert len(result["content"]) == 1


def test_data_is_no_longer_shared_with_the_tool() -> None:
    first = {"list": [1]}
    result = tool_result(first)
    first["list"].append(2)
    assert result["structuredContent"] == {"list": [1]}


LINK = {"type": "resource_link", "uri": "x://y", "name": "y"}
EMBEDDED = {"type": "resource", "resource": {"uri": "x://y", "text": "hi"}}

BLOCKS = [
    pytest.param(PNG, [PNG_BLOCK], id="bytes of an image"),
    pytest.param(bytearray(PNG), [PNG_BLOCK], id="bytearray"),
    pytest.param(Image(PNG), [PNG_BLOCK], id="Image"),
    pytest.param(
        Image(b"<svg/>", "image/svg+xml"),
        [{"type": "image", "data": "PHN2Zy8+", "mimeType": "image/svg+xml"}],
        id="Image with a type",
    ),
    pytest.param(PNG_BLOCK, [PNG_BLOCK], id="block"),
    pytest.param(LINK, [LINK], id="link"),
    pytest.param([EMBEDDED], [EMBEDDED], id="embedded resource"),
    pytest.param(
        ["see", Image(PNG), {"n": 1}, 2],
        [
            {"type": "text", "text": "see"},
            PNG_BLOCK,
            {"type": "text", "text": '{"n":1}'},
            {"type": "text", "text": "2"},
        ],
        id="a mixed list keeps its order",
    ),
]


@pytest.mark.parametrize(("value", "blocks"), BLOCKS)
def test_content_is_sent_as_blocks_without_a_structured_part(
    value: Any, blocks: list[dict[str, Any]]
) -> None:
    assert tool_result(value) == {"content": blocks}


@pytest.mark.parametrize(
    ("head", "mime_type"),
    [
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
    ],
)
def test_the_type_of_an_image_is_read_from_its_bytes(head: bytes, mime_type: str) -> None:
    assert tool_result(head)["content"][0]["mimeType"] == mime_type


def test_the_objects_of_the_mcp_package_are_taken_as_they_are_meant() -> None:
    import mcp_types

    picture = mcp_types.ImageContent(type="image", data=PNG_BLOCK["data"], mime_type="image/png")
    assert tool_result([picture, "x"])["content"] == [PNG_BLOCK, {"type": "text", "text": "x"}]
    complete = mcp_types.CallToolResult(content=[picture], is_error=True)
    assert tool_result(complete) == {"content": [PNG_BLOCK], "isError": True}


COMPLETE = [
    pytest.param({**text("a"), "isError": True}, {**text("a"), "isError": True}, id="isError"),
    pytest.param({**text("a"), "is_error": True}, {**text("a"), "isError": True}, id="is_error"),
    pytest.param({**text("a"), "isError": False}, text("a"), id="no error"),
    pytest.param({**text("a"), "_meta": {"k": 1}}, {**text("a"), "_meta": {"k": 1}}, id="meta"),
    pytest.param(
        {"content": [], "structuredContent": {"a": 1}},
        {**text('{"a":1}'), "structuredContent": {"a": 1}},
        id="structured alone gets its text",
    ),
    pytest.param(
        {**text('{"a": 1}'), "structuredContent": {"a": 1}},
        {**text('{"a": 1}'), "structuredContent": {"a": 1}},
        id="both say the same",
    ),
    pytest.param(
        {**text("found it"), "structuredContent": {"a": 1}},
        text("found it", '{"a":1}'),
        id="text that the CLI would replace is kept",
    ),
    pytest.param(
        {"content": [Image(PNG)], "structuredContent": {"a": 1}},
        {"content": [PNG_BLOCK, {"type": "text", "text": '{"a":1}'}]},
        id="an image that the CLI would drop is kept",
    ),
]


@pytest.mark.parametrize(("value", "expected"), COMPLETE)
def test_a_complete_result_is_sent_so_that_nothing_is_lost(
    value: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert tool_result(value) == expected


def test_a_picture_that_the_structured_part_repeats_is_not_sent_as_text() -> None:
    given_both = {"content": [PNG_BLOCK], "structuredContent": {"result": [PNG_BLOCK]}}
    assert without_loss(given_both) == {"content": [PNG_BLOCK]}


class Broken:
    @property
    def model_dump(self) -> Any:
        raise RuntimeError("not today")


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


CANNOT = [
    pytest.param(object(), "builtins.object, which has no form in JSON", id="object"),
    pytest.param({"a": object()}, "which has no form in JSON", id="object inside"),
    pytest.param(b"plain bytes", "11 bytes that are not a PNG", id="bytes that are no image"),
    pytest.param({"a": Image(PNG)}, "Return a list: [data, image]", id="image inside data"),
    pytest.param(
        [{"type": "image", "data": "x"}], "image block without the text `mimeType`", id="half image"
    ),
    pytest.param([{"type": "text", "text": 3}], "text block without the text `text`", id="no text"),
    pytest.param(
        [{"type": "resource", "resource": {}}], "without a resource and its uri", id="uri"
    ),
    pytest.param(
        {**text("a"), "structuredContent": [1]}, "structuredContent must be an object", id="list"
    ),
    pytest.param({"a": "\ud800"}, "cannot be sent: UnicodeEncodeError", id="surrogate in data"),
    pytest.param(Broken(), "a Broken that cannot be sent: RuntimeError: not today", id="broken"),
    pytest.param(nested(100_000), "cannot be sent: RecursionError", id="very deep"),
]


@pytest.mark.parametrize(("value", "advice"), CANNOT)
def test_what_cannot_be_sent_becomes_a_failed_result_that_says_why(value: Any, advice: str) -> None:
    result = tool_result(value)
    assert result["isError"] is True
    assert advice in result["content"][0]["text"]


def test_a_failure_always_has_a_text() -> None:
    assert failed_result("")["content"][0]["text"] == "The tool failed without an error message."


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
    max_leaves=20,
)
shapes = json_values | st.builds(
    lambda content, structured, kind: {
        "content": [{"type": kind, "text": content, "data": content}],
        "structuredContent": structured,
    },
    json_values,
    json_values,
    st.sampled_from(["text", "image", "resource", "resource_link", "other"]),
)


@given(shapes)
def test_any_value_gives_a_result_that_can_be_written(value: Any) -> None:
    result = tool_result(value)
    written = msgspec.json.encode(result)
    assert isinstance(result["content"], list)
    assert msgspec.json.decode(written) == result
    kinds = {block["type"] for block in result["content"]}
    assert "structuredContent" not in result or kinds == {"text"}
