"""Files for prompts: a gateway keeps them until the prompt is sent, and then sends them along.

When a file is uploaded, it is not known yet which machine will carry out the prompt. So the gateway
keeps the file, and uploads it to the machine of the session before it passes the prompt on.

If there are other gateways, the prompt may be sent through one of them, because this one has failed or
because a load balancer chose it. So the file is also in a bucket for an hour.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection

import msgspec
from msgspec import structs

from fairlead.errors import UsageError
from fairlead.fleet.bus.bus import Bucket, BusError
from fairlead.fleet.gateway.node_client import NodeClient
from fairlead.fleet.protocol.envelopes import HttpAsk
from fairlead.server.http.uploads import Upload, Uploads
from fairlead.server.protocol.intents import Attachment, Send
from fairlead.server.refusal import Refusal
from fairlead.store.tables.devices import Device

__all__ = ["GatewayUploads"]

log = logging.getLogger("fairlead.fleet")

SHARED_BYTES = 192 * 1024
"""Most bytes of a file in one key of the bucket, which takes values of up to 256 KiB."""

REMEMBERED = 1_000
"""Uploads whose id at a machine is remembered, so that a repeated prompt does not send them again."""


class GatewayUploads:
    """The uploads of one gateway."""

    def __init__(
        self,
        uploads: Uploads,
        client: NodeClient,
        shared: Bucket,
        others: Callable[[], Collection[str]],
    ) -> None:
        """`shared` is a bucket of all gateways; `others` returns the other gateways that are here."""
        self._uploads = uploads
        self._client = client
        self._shared = shared
        self._others = others
        self._sent: dict[tuple[str, str], str] = {}
        """(Upload, node) -> the id of the upload there."""

    async def keep(self, content: bytes) -> Upload:
        """Keep an upload until its prompt is sent."""
        upload = await asyncio.to_thread(self._uploads.keep, content)
        if self._others():
            try:
                await self._share(upload.id, content)
            except BusError as problem:  # This gateway has it.
                log.warning("an upload is not shared with the other gateways: %s", problem)
        return upload

    async def _share(self, upload: str, content: bytes) -> None:
        starts = range(0, len(content), SHARED_BYTES)
        for number, start in enumerate(starts):
            await self._shared.put(f"{upload}.{number}", content[start : start + SHARED_BYTES])
        # Written last: with it the file is whole.
        await self._shared.put(upload, f"{len(starts)}".encode())

    async def _content(self, upload: str) -> bytes:
        """The content of an upload, of this gateway or another; raises `UsageError`."""
        try:
            return await asyncio.to_thread(self._uploads.content, upload)
        except UsageError:
            content = await self._shared_content(upload) if upload.isalnum() else None
            if content is None:
                raise
            return content

    async def _shared_content(self, upload: str) -> bytes | None:
        try:
            whole = await self._shared.get(upload)
            if whole is None or whole.value is None:
                return None
            parts = [await self._shared.get(f"{upload}.{n}") for n in range(int(whole.value))]
        except (BusError, ValueError):
            return None
        values = [part.value for part in parts if part is not None and part.value is not None]
        return b"".join(values) if len(values) == len(parts) else None

    async def sent_along(self, node: str, device: Device, intent: Send) -> Send:
        """The prompt with the ids that its attachments have at a machine."""
        attachments = [
            structs.replace(each, upload=await self._send(node, device, each))
            for each in intent.attachments
        ]
        return structs.replace(intent, attachments=tuple(attachments))

    async def _send(self, node: str, device: Device, attachment: Attachment) -> str:
        key = attachment.upload, node
        known = self._sent.get(key)
        if known is not None:
            return known
        try:
            content = await self._content(attachment.upload)
        except UsageError:
            return attachment.upload  # It was uploaded to the machine itself.
        ask = HttpAsk(transfer="", device=device.id, method="POST", path="/api/uploads")
        response = await self._client.http(node, ask, _once(content))
        body = await response.read()
        if response.status != 200:
            raise Refusal("unavailable", f"The machine refused the file: {body.decode()[:200]}")
        while len(self._sent) >= REMEMBERED:
            del self._sent[next(iter(self._sent))]
        upload = self._sent[key] = msgspec.json.decode(body, type=Upload).id
        return upload


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content
