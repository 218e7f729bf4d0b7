"""The route that imports a recording. Its body is the file; `sessions.importing` does the work."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from fairlead.server.http.bodies import json_answer, read_body
from fairlead.server.http.routes import Parameter, Route
from fairlead.server.intents.registry import Registry
from fairlead.server.refusal import Refusal
from fairlead.server.sessions.importing import import_recording
from fairlead.store.log import StoreUnavailable

__all__ = ["RecordingRoutes"]


class RecordingRoutes:
    """The handler."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        name = Parameter(name="name", where="query", about="The file's name.", needed=False)
        self.routes = (
            Route(
                method="POST", path="/api/recordings", role="operator", handler=self._import,
                about="Import a recording as a session that can only be read.", parameters=(name,),
            ),
        )  # fmt: skip

    async def _import(self, request: Request) -> Response:
        limit = self._registry.limits.recording_bytes
        body = await read_body(request, limit)
        name = request.query_params.get("name", "").removesuffix(".ndjson")
        try:
            session = await import_recording(self._registry.sessions, body, name)
        except StoreUnavailable as problem:
            raise Refusal("unavailable", f"Nothing was imported: {problem.reason}.") from None
        return json_answer({"session": session})
