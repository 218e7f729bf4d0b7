"""A client that writes review comments and reads them back."""

from __future__ import annotations

import json
import uuid
from typing import Any

from fairlead.server.working_files import id_of
from tests.server.conftest import Client, Served

__all__ = ["ReviewClient", "review_client"]


class ReviewClient:
    """One device in one session."""

    def __init__(self, served: Served, client: Client, session: str) -> None:
        self.served = served
        self.client = client
        self.session = session

    async def put(self, path: str, start: int, code: str, text: str, **more: Any) -> dict[str, Any]:
        """Write a new comment; gives the result of the intent and its id."""
        fields: dict[str, Any] = {
            "id": str(uuid.uuid4()),
            "file": id_of(path),
            "start": start,
            "end": start + code.count("\n"),
            "code": code,
            "text": text,
        } | more
        result = await self.client.intend("put_comment", session=self.session, **fields)
        return result | {"id": fields["id"]}

    async def comments(self) -> list[dict[str, Any]]:
        """All comments, as this device sees them."""
        status, body, _ = await self.served.http(
            f"/api/sessions/{self.session}/comments", Authorization=f"Bearer {self.client.token}"
        )
        assert status == 200, body
        return list(json.loads(body)["comments"])

    async def send(self, *comments: dict[str, Any], **more: Any) -> dict[str, Any]:
        """Send these comments as one review."""
        named = [{"id": one["id"], "version": one["version"]} for one in comments]
        fields: dict[str, Any] = {"uuid": str(uuid.uuid4()), "comments": named} | more
        result = await self.client.intend("send_review", session=self.session, **fields)
        return result | {"uuid": fields["uuid"]}


async def review_client(
    served: Served, role: str = "owner", session: str | None = None
) -> ReviewClient:
    """A new device; a new session if none is given."""
    client = await served.client(role)
    if session is None:
        session = await client.new_session("hi")
        await client.ending(session)
    return ReviewClient(served, client, session)
