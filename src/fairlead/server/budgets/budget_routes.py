"""Routes for budgets: every device can read them, owners change them."""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fairlead.server.budgets.budgets import Budgets
from fairlead.server.budgets.rules.budget import Budget
from fairlead.server.http.bodies import json_answer, read_body
from fairlead.server.http.routes import Route

__all__ = ["BudgetRoutes"]

BODY_BYTES = 8_192


class _Removal(msgspec.Struct, forbid_unknown_fields=True):
    id: str


class BudgetRoutes:
    """The handlers."""

    def __init__(self, budgets: Budgets) -> None:
        self._budgets = budgets
        self.routes = (
            Route(
                method="GET", path="/api/budgets", role="viewer", handler=self._read,
                about="All budgets, and what was spent of each.",
            ),
            Route(
                method="POST", path="/api/budgets", role="owner", handler=self._put,
                about="Set the budget of a session, a project's folder, or a day.",
            ),
            Route(
                method="POST", path="/api/budgets/remove", role="owner", handler=self._remove,
                about="Delete a budget.",
            ),
        )  # fmt: skip

    async def _read(self, request: Request) -> Response:
        return json_answer({"budgets": self._budgets.states()})

    async def _put(self, request: Request) -> Response:
        budget = msgspec.json.decode(await read_body(request, BODY_BYTES), type=Budget)
        await self._budgets.put(budget)
        return json_answer({"budgets": self._budgets.states()})

    async def _remove(self, request: Request) -> Response:
        wanted = msgspec.json.decode(await read_body(request, BODY_BYTES), type=_Removal)
        await self._budgets.remove(wanted.id)
        return json_answer({"budgets": self._budgets.states()})
