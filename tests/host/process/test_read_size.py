"""A pipe is read in pieces that the allocator does not have to map, and nothing of it is lost."""

from __future__ import annotations

import asyncio
import os

from fairlead.host.process.read_size import READ_BYTES, limit_reads


class _Pieces(asyncio.Protocol):
    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.ended = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        self.pieces.append(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended.set_result(None)


async def test_a_pipe_is_read_in_small_pieces() -> None:
    reader, writer = os.pipe()
    transport, protocol = await asyncio.get_running_loop().connect_read_pipe(
        _Pieces, os.fdopen(reader, "rb")
    )
    limit_reads(transport)
    content = bytes(range(256)) * 1024
    with os.fdopen(writer, "wb") as out:
        await asyncio.to_thread(out.write, content)
        await asyncio.to_thread(out.flush)
    async with asyncio.timeout(30):
        await protocol.ended
    assert b"".join(protocol.pieces) == content
    assert max(map(len, protocol.pieces)) <= READ_BYTES


def test_a_transport_of_another_kind_is_left_alone() -> None:
    transport = asyncio.BaseTransport()
    limit_reads(transport)
    assert not hasattr(transport, "max_size")
