"""The stored output of a terminal and the position of each client in it, without I/O."""

from __future__ import annotations

from fairlead.server.terminal.output.scrollback import Scrollback
from fairlead.server.terminal.output.viewer import PIECE, WINDOW, Viewer


def test_B110_the_buffer_keeps_the_last_bytes_and_begins_with_a_line() -> None:
    buffer = Scrollback(20)
    buffer.add(b"first line\n")
    assert (buffer.start, buffer.end) == (0, 11)
    buffer.add(b"second line\n")
    assert (buffer.start, buffer.end) == (11, 23)
    assert buffer.read(11, 100) == b"second line\n"
    assert buffer.read(18, 3) == b"lin"
    buffer.add(b"x" * 1_000)  # A line that is longer than the buffer is cut.
    assert (buffer.start, buffer.end) == (1_003, 1_023)


def test_B110_a_piece_is_either_replay_or_live() -> None:
    buffer = Scrollback(1_000)
    buffer.add(b"old")
    viewer = Viewer(buffer, 0)
    buffer.add(b"new")
    first, second = viewer.next(), viewer.next()
    assert first is not None
    assert second is not None
    assert (first.data, first.replay) == (b"old", True)
    assert (second.data, second.replay) == (b"new", False)
    assert viewer.next() is None


def test_B110_an_offset_of_another_shell_begins_with_what_is_stored() -> None:
    buffer = Scrollback(1_000)
    buffer.add(b"here")
    for offset in (-1, 5, 10**9):
        piece = Viewer(buffer, offset).next()
        assert piece is not None
        assert (piece.offset, piece.data, piece.lost) == (0, b"here", 0)


def test_B111_a_client_gets_a_window_and_then_must_acknowledge() -> None:
    buffer = Scrollback(10 * WINDOW)
    viewer = Viewer(buffer, 0)
    buffer.add(b"x" * (3 * WINDOW))
    sent = 0
    while (piece := viewer.next()) is not None:
        assert len(piece.data) <= PIECE
        sent += len(piece.data)
    assert sent == WINDOW
    assert viewer.behind
    viewer.ack(sent + 1)  # It cannot have drawn what it was not sent.
    assert viewer.behind
    viewer.ack(sent)
    assert not viewer.behind
    assert viewer.next() is not None


def test_B111_a_client_learns_how_much_it_missed() -> None:
    buffer = Scrollback(1_000)
    viewer = Viewer(buffer, 0)
    buffer.add(b"x" * 5_000)
    piece = viewer.next()
    assert piece is not None
    assert (piece.offset, len(piece.data), piece.lost) == (4_000, 1_000, 4_000)
