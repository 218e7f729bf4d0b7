"""The bytes of the NATS protocol, however they are cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.fleet.bus.nats_protocol import (
    LINE_BYTES,
    Control,
    NatsMessage,
    Operation,
    ProtocolReader,
    UnreadableBytes,
    published,
    subscribed,
)

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
