"""Files for prompts: a gateway keeps them until the prompt is sent, and then sends them along.

When a file is uploaded, it is not known yet which machine will carry out the prompt. So the gateway
keeps the file, and uploads it to the machine of the session before it passes the prompt on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import msgspec
from msgspec import structs

from fairlead.errors import UsageError
from fairlead.fleet.gateway.node_client import NodeClient
from fairlead.fleet.protocol.envelopes import HttpAsk
from fairlead.server.http.uploads import Upload, Uploads
from fairlead.server.protocol.intents import Attachment, Send
from fairlead.server.refusal import Refusal
from fairlead.store.tables.devices import Device

__all__ = ["GatewayUploads"]

REMEMBERED = 1_000
"""Uploads whose id at a machine is remembered, so that a repeated prompt does not send them again."""


class GatewayUploads:
    """The uploads of one gateway."""

    def __init__(self, uploads: Uploads, client: NodeClient) -> None:
        self._uploads = uploads
        self._client = client
        self._sent: dict[tuple[str, str], str] = {}
        """(Upload, node) -> the id of the upload there."""

    async def keep(self, content: bytes) -> Upload:
        """Keep an upload until its prompt is sent."""
        return await asyncio.to_thread(self._uploads.keep, content)

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
            content = await asyncio.to_thread(self._uploads.content, attachment.upload)
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
