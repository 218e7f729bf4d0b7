"""JSON text to plain values: W8 to W13 of docs/wire.md."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.wire.decode import decode
from fairlead.wire.events import Assistant, KeepAlive, Malformed, User
from fairlead.wire.json_text import NotJson, parse, write
from tests.wire.strategies import LAW, json_values


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (rb'"cut \ud83d"', "cut \ufffd"),
        (rb'"\ude00 cut"', "\ufffd cut"),
        (rb'"\ud83d\ude00 and \ud83d"', "😀 and \ufffd"),
        (rb'{"k\ud800":["\udfff"]}', {"k\ufffd": ["\ufffd"]}),
    ],
)
def test_W8_half_a_surrogate_pair_is_read_as_a_replacement_character(
    text: bytes, value: Any
) -> None:
    assert parse(text) == value


def test_W8_a_message_with_half_a_surrogate_pair_stays_typed_and_can_be_written_again() -> None:
    line = (
        rb'{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"a\ud83d"}]}}'
    )
    message = decode(line)
    assert isinstance(message, Assistant)
    assert message.text == "a\ufffd"
    assert message.raw == line
    assert json.loads(write(message.data).decode()) == message.data


def test_W9_numbers_that_are_not_numbers_are_read() -> None:
    value = parse(b'{"a":NaN,"b":Infinity,"c":[-Infinity]}')
    assert math.isnan(value["a"])
    assert (value["b"], value["c"]) == (math.inf, [-math.inf])
    assert isinstance(decode(b'{"type":"keep_alive","lag":NaN}'), KeepAlive)


def test_W10_a_byte_order_mark_is_ignored() -> None:
    assert parse(b'\xef\xbb\xbf{"a":1}') == {"a": 1}
    message = decode(b'\xef\xbb\xbf{"type":"keep_alive"}')
    assert isinstance(message, KeepAlive)
    assert message.data == {"type": "keep_alive"}


def test_W11_bytes_that_are_not_utf8_are_read_as_replacement_characters() -> None:
    assert parse(b'{"a":"x\xffy"}') == {"a": "x\ufffdy"}
    typed = decode(b'{"type":"user","uuid":"u","message":{"content":"x\xff"}}')
    assert isinstance(typed, User)
    assert typed.text == "x\ufffd"
    # A field without a type is not looked at until somebody asks for `data`.
    untyped = decode(b'{"type":"keep_alive","note":"\xc3"}')
    assert isinstance(untyped, KeepAlive)
    assert untyped.data == {"type": "keep_alive", "note": "\ufffd"}


def test_W12_a_number_without_end_is_read_as_infinity() -> None:
    digits = b"9" * 5_000
    assert parse(digits) == math.inf
    assert parse(b"-" + digits) == -math.inf
    assert parse(b"9" * 400) == int("9" * 400)
    message = decode(b'{"type":"keep_alive","n":' + digits + b"}")
    assert message.data == {"type": "keep_alive", "n": math.inf}


def test_W13_a_value_nested_200_deep_is_read() -> None:
    line = b'{"type":"user","tool_use_result":' + nested(200) + b"}"
    message = decode(line)
    assert isinstance(message, User)
    assert message.tool_use_result == json.loads(nested(200))
    assert message.data == json.loads(line)


def test_W13_a_value_nested_beyond_all_measure_is_malformed() -> None:
    line = b'{"type":"user","tool_use_result":' + nested(200_000) + b"}"
    message = decode(line)
    assert isinstance(message, Malformed)
    assert message.problem == "nested too deep to be read"
    assert message.raw == line
    with pytest.raises(NotJson, match="nested too deep"):
        parse(line)


@pytest.mark.parametrize("text", [b"", b" ", b"{", b"nul", b"{} {}", b"{'a':1}", b'{"a":01}'])
def test_what_is_not_json_is_refused_in_words(text: bytes) -> None:
    with pytest.raises(NotJson, match=r"\w"):
        parse(text)


@given(json_values())
@LAW
def test_what_is_written_is_one_line_and_is_read_as_the_same_value(value: Any) -> None:
    text = write(value)
    assert b"\n" not in text
    assert parse(text) == value


@given(st.text(st.characters(), max_size=20))
@LAW
def test_any_text_can_be_written_even_with_half_a_surrogate_pair(text: str) -> None:
    expected = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in _joined(text))
    assert parse(write({"t": text})) == {"t": expected}


def _joined(text: str) -> str:
    """The text as JSON understands it, in which two halves that meet are one character."""
    return str(json.loads(json.dumps(text)))


def test_what_cannot_be_written_for_its_depth_is_refused() -> None:
    value: list[Any] = []
    for _ in range(200_000):
        value = [value]
    with pytest.raises(NotJson, match="nested too deep"):
        write(value)
