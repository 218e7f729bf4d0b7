"""The route with the usage windows of all accounts and the sessions that a limit stops."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from msgspec import to_builtins
from starlette.requests import Request
from starlette.responses import Response

from fairlead.server.http.bodies import json_answer
from fairlead.server.http.routes import Route
from fairlead.server.limit_book import WARN_AT, LimitBook
from fairlead.server.protocol.lobby_rows import LimitRow, ListedSession

__all__ = ["LimitRoutes"]


class LimitRoutes:
    """The handler of `/api/limits`."""

    def __init__(
        self,
        book: LimitBook,
        sessions: Callable[[], Iterable[ListedSession]],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._book = book
        self._sessions = sessions
        self._clock = clock
        self.routes = (
            Route(
                method="GET",
                path="/api/limits",
                role="viewer",
                about="The usage windows of all accounts, and the sessions that a limit stops.",
                handler=self._limits,
            ),
        )

    async def _limits(self, request: Request) -> Response:
        stopped = [row for row in self._sessions() if row.limit is not None]
        return json_answer(
            {
                "windows": [_window(row) for row in self._book.rows(self._clock())],
                "stopped": [
                    {
                        "session": row.id,
                        "title": row.title,
                        "profile": row.profile,
                        **to_builtins(row.limit),
                    }
                    for row in stopped
                ],
                "continue_at_reset": self._book.continue_at_reset,
            }
        )


def _window(row: LimitRow) -> dict[str, object]:
    """A window, with the highest threshold that it has passed."""
    used = row.utilization or 0.0
    warning = max((level for level in WARN_AT if used >= level), default=None)
    return {**to_builtins(row), "warning": warning}
