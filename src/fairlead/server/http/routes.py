"""The table of the HTTP API: every route with the least role that may use it.

The application and its OpenAPI description are both built only from this table, so that no route
can exist without a check or without a description (abuse case T-03).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

__all__ = ["Handler", "Parameter", "Route", "openapi"]

Handler = Callable[[Request], Awaitable[Response]]


class Parameter(Struct, frozen=True, kw_only=True):
    """A parameter of a route, in its path or its query."""

    name: str
    where: str
    about: str
    needed: bool = True


class Route(Struct, frozen=True, kw_only=True):
    """One operation of the API."""

    method: str
    path: str
    role: str | None
    """The least role; None only for exchanging a code for a token, and for the ticket of a notification."""
    about: str
    handler: Handler
    parameters: tuple[Parameter, ...] = ()
    returns: str = "application/json"


def openapi(routes: tuple[Route, ...], version: str) -> dict[str, Any]:
    """The OpenAPI description of the table."""
    paths: dict[str, Any] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Fairlead", "version": version},
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "paths": paths,
    }


def _operation(route: Route) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "summary": route.about,
        "description": f"Least role: {route.role}." if route.role else "Needs no token.",
        "parameters": [
            {
                "name": parameter.name,
                "in": parameter.where,
                "description": parameter.about,
                "required": parameter.needed,
                "schema": {"type": "string"},
            }
            for parameter in route.parameters
        ],
        "responses": {
            "200": {"description": "Done.", "content": {route.returns: {}}},
            "4XX": {"description": "Refused; the body has `code` and `message`."},
        },
    }
    if route.role is not None:
        operation["security"] = [{"token": []}]
    return operation
