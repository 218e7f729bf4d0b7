"""The bytes of the NATS protocol, however they are cut."""

from __future__ import annotations

import contextlib
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlead.fleet.bus.nats_protocol import (
    LINE_BYTES,
    MESSAGE_BYTES,
    Control,
    NatsMessage,
    Operation,
    ProtocolReader,
    UnreadableBytes,
    published,
    subscribed,
)
from tests.matrix import examples

SENT = (
    b'INFO {"max_payload":1048576}\r\n'
    b"PING\r\n"
    b"MSG fl.beat.a 3 5\r\nhello\r\n"
    b"MSG fl.do.b 12 _INBOX.c.d 2\r\n\r\n\r\n"
    b"HMSG _INBOX.c.e 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\n"
    b"HMSG _INBOX.c.e 1 fl.x 40 43\r\nNATS/1.0 204 EOB\r\nA: one\r\nA: b: two \r\n\r\nend\r\n"
    b"-ERR 'Permissions Violation for Publish to \"fl.x\"'\r\n"
    b"MSG fl.beat.a 3 0\r\n\r\n"
    b"PONG\r\n"
)
OPERATIONS: list[Operation] = [
    Control("INFO", b'{"max_payload":1048576}'),
    Control("PING", b""),
    NatsMessage(3, "fl.beat.a", "", None, b"hello"),
    NatsMessage(12, "fl.do.b", "_INBOX.c.d", None, b"\r\n"),
    NatsMessage(1, "_INBOX.c.e", "", {"Status": "503"}, b""),
    NatsMessage(
        1, "_INBOX.c.e", "fl.x", {"Status": "204", "Description": "EOB", "A": "b: two"}, b"end"
    ),
    Control("-ERR", b"'Permissions Violation for Publish to \"fl.x\"'"),
    NatsMessage(3, "fl.beat.a", "", None, b""),
    Control("PONG", b""),
]


@given(st.lists(st.integers(1, len(SENT) - 1), max_size=12))
def test_any_chunking_gives_the_same_operations(cuts: list[int]) -> None:
    reader = ProtocolReader()
    places = [0, *sorted(cuts), len(SENT)]
    read: list[Operation] = []
    for start, end in pairwise(places):
        read += reader.feed(SENT[start:end])
    assert read == OPERATIONS


def test_one_byte_after_the_other_gives_the_same_operations() -> None:
    reader = ProtocolReader()
    read = [each for place in range(len(SENT)) for each in reader.feed(SENT[place : place + 1])]
    assert read == OPERATIONS


@given(st.binary(max_size=200))
def test_a_message_is_written_with_its_length(payload: bytes) -> None:
    line, _, rest = published("fl.live.a.s", "", payload).partition(b"\r\n")
    assert line == b"PUB fl.live.a.s %d" % len(payload)
    assert rest == payload + b"\r\n"


def test_headers_and_the_subject_of_an_answer_are_written_before_the_payload() -> None:
    assert published("a.b", "c.d", b"x", {"One": "1", "Two": "2"}) == (
        b"HPUB a.b c.d 28 29\r\nNATS/1.0\r\nOne: 1\r\nTwo: 2\r\n\r\nx\r\n"
    )


@pytest.mark.parametrize("subject", ["", "a b", "a\r\nPUB x 0\r\n", "a\tb", "ä"])
def test_no_subject_can_contain_another_command(subject: str) -> None:
    with pytest.raises(ValueError, match="cannot be sent"):
        published(subject, "", b"")
    with pytest.raises(ValueError, match="cannot be sent"):
        subscribed(subject, 1)
    if subject:
        with pytest.raises(ValueError, match="cannot be sent"):
            published("a", subject, b"")


def test_no_header_can_contain_another_one() -> None:
    with pytest.raises(ValueError, match="cannot be a header"):
        published("a", "", b"", {"One": "1\r\nTwo: 2"})
    with pytest.raises(ValueError, match="cannot be sent"):
        published("a", "", b"", {"One: 1\r\nTwo": "2"})


@pytest.mark.parametrize(
    "sent",
    [
        b"MSG a 1 many\r\n",
        b"MSG a 1 -5\r\n",
        b"MSG a 1 99999999999\r\n",
        b"MSG 1\r\nx\r\n",
        b"HMSG a 1 x 2\r\nab\r\n",
        b"x" * (LINE_BYTES + 1),
        b"\xff\xff\r\n",
    ],
)
def test_what_is_not_the_protocol_is_refused(sent: bytes) -> None:
    with pytest.raises(UnreadableBytes):
        ProtocolReader().feed(sent)


def test_a_long_message_is_kept_until_it_is_complete() -> None:
    reader, payload = ProtocolReader(), bytes(range(256)) * 4_096
    sent = b"MSG a 1 %d\r\n%b\r\nPING\r\n" % (len(payload), payload)
    read: list[Operation] = []
    for place in range(0, len(sent), 16_384):
        read += reader.feed(sent[place : place + 16_384])
    assert read == [NatsMessage(1, "a", "", None, payload), Control("PING", b"")]


# Generated streams

_token = st.text(st.sampled_from("abcXYZ019-_$"), min_size=1, max_size=6)
_subject = st.lists(_token, min_size=1, max_size=4).map(".".join)
_text = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20)


@st.composite
def _controls(draw: st.DrawFn) -> tuple[bytes, Operation]:
    verb = draw(st.sampled_from(["PING", "PONG", "+OK", "INFO", "-ERR"]))
    text = draw(_text) if verb in ("INFO", "-ERR") else ""
    written = draw(st.sampled_from([verb, verb.lower()]))
    line = f"{written} {text}" if text else written
    return line.encode() + b"\r\n", Control(verb, text.encode())


@st.composite
def _messages(draw: st.DrawFn) -> tuple[bytes, Operation]:
    subject, number = draw(_subject), draw(st.integers(0, 10**6))
    reply, data = draw(st.just("") | _subject), draw(st.binary(max_size=60))
    to = f"{subject} {number} {reply}" if reply else f"{subject} {number}"
    if draw(st.booleans()):
        sent = b"MSG %b %d\r\n%b\r\n" % (to.encode(), len(data), data)
        return sent, NatsMessage(number, subject, reply, None, data)
    status = draw(st.sampled_from(["", "503", "404 Not Found", "100 Idle Heartbeat"]))
    values = draw(st.dictionaries(_token, _text, max_size=3))
    lines = "".join(f"{name}: {value}\r\n" for name, value in values.items())
    head = f"NATS/1.0{f' {status}' if status else ''}\r\n{lines}\r\n".encode()
    sizes = f"{len(head)} {len(head) + len(data)}"
    sent = b"HMSG %b %b\r\n%b%b\r\n" % (to.encode(), sizes.encode(), head, data)
    code, _, description = status.partition(" ")
    headers = {"Status": code} if code else {}
    headers |= {"Description": description} if description else {}
    headers |= {name: value.strip() for name, value in values.items()}
    return sent, NatsMessage(number, subject, reply, headers, data)


_operations = st.lists(_controls() | _messages(), max_size=12)


def _fed(sent: bytes, cuts: list[int]) -> list[Operation]:
    reader = ProtocolReader()
    places = [0, *sorted(cut % (len(sent) + 1) for cut in cuts), len(sent)]
    return [each for start, end in pairwise(places) for each in reader.feed(sent[start:end])]


@settings(max_examples=examples(2_000))
@given(_operations, st.lists(st.integers(0, 2_000), max_size=30))
def test_N55_any_chunking_of_any_operations_gives_the_same_operations(
    pairs: list[tuple[bytes, Operation]], cuts: list[int]
) -> None:
    sent = b"".join(each for each, _ in pairs)
    assert _fed(sent, cuts) == [operation for _, operation in pairs]


@settings(max_examples=examples(2_000))
@given(_operations, st.binary(min_size=1, max_size=40), st.integers(0, 4_000), st.booleans())
def test_N55_damaged_bytes_give_operations_or_one_error(
    pairs: list[tuple[bytes, Operation]], noise: bytes, place: int, inserted: bool
) -> None:
    """Nothing else than `UnreadableBytes` is raised, also if the damage is found late."""
    sent = b"".join(each for each, _ in pairs)
    at = place % (len(sent) + 1)
    damaged = sent[:at] + noise + sent[at if inserted else at + len(noise) :]
    before = [operation for _, operation in _complete(pairs, at)]
    reader, read = ProtocolReader(), list[Operation]()
    with contextlib.suppress(UnreadableBytes):
        for start in range(0, len(damaged), 7):
            read += reader.feed(damaged[start : start + 7])
    assert read[: len(before)] == before[: len(read)]


def _complete(pairs: list[tuple[bytes, Operation]], size: int) -> list[tuple[bytes, Operation]]:
    """The operations that the first bytes contain."""
    complete = []
    for sent, operation in pairs:
        size -= len(sent)
        if size < 0:
            break
        complete.append((sent, operation))
    return complete


@pytest.mark.parametrize(
    "sent",
    [
        b"HTTP/1.1 400 Bad Request\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"220 mail.example.org ESMTP\r\n",
        b"\x15\x03\x01\x00\x02\x02\x46\r\n",
        b"\r\n",
        b"MSG a 1 1_0\r\n0123456789\r\n",
        b"MSG a 1 +5\r\nhello\r\n",
        b"MSG a 1 5\r\nhello, world\r\n",  # Longer than it says.
        b"MSG a 1 b c 5\r\nhello\r\n",
        b"MSG a -1 5\r\nhello\r\n",
        b"MSG a 1  5\r\nhello\r\n",
        b"HMSG a 1 20 16\r\nNATS/1.0 503\r\n\r\n\r\n",  # Headers longer than the message.
        b"HMSG a 1 -4 16\r\nNATS/1.0 503\r\n\r\n\r\n",
        b"HMSG a 1 12 12\r\nHTTP/1.0\r\n\r\n\r\n",
        b"HMSG a 1 16\r\nNATS/1.0 503\r\n\r\n\r\n",
        b"MSG %b 1 0\r\n\r\n" % (b"a" * LINE_BYTES),
        b"MSG a 1 %d\r\n" % (MESSAGE_BYTES + 1),
        b"HMSG a 1 12 %d\r\n" % (MESSAGE_BYTES + 1),
        b"INFO %b\r\n" % (b" " * LINE_BYTES),
    ],
)
def test_N55_what_no_nats_server_sends_ends_the_connection_with_a_clear_error(sent: bytes) -> None:
    with pytest.raises(UnreadableBytes, match="not a NATS server") as refused:
        ProtocolReader().feed(sent)
    assert len(str(refused.value)) < 300


def test_N55_a_message_of_the_greatest_size_is_read_and_no_memory_beyond_it_is_needed() -> None:
    reader = ProtocolReader()
    assert reader.feed(b"MSG a 1 %d\r\n" % MESSAGE_BYTES) == []
    assert reader.feed(b"x" * LINE_BYTES) == []
    line = ProtocolReader()
    assert line.feed(b"x" * LINE_BYTES) == []
    with pytest.raises(UnreadableBytes):
        line.feed(b"x")
