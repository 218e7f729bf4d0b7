"""What a gateway and a server with workers do with every route and every intent.

A new route or intent fails these tests until its line is in the table, so that none is forgotten.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

from msgspec import structs

from fairlead.fleet.gateway.http.http_routes import WHICH
from fairlead.fleet.gateway.intent_routes import routed
from fairlead.fleet.workers.worker_documents import FRONT
from fairlead.server.http.routes import Route
from fairlead.server.protocol.intent import BaseIntent
from fairlead.server.protocol.intents import Intent
from fairlead.store.tables.devices import Device
from tests.fleet.fleet_harness import fleet
from tests.fleet.workers.workers_harness import with_workers

ROUTES = {
    # Route: (at a gateway, at the front of workers).
    #
    # own: carried out there. session: passed on to the process of the session in the path.
    # merged: asked of all processes. body: passed on to the process of the session in the body; at a
    # gateway refused with the reason if the body names none and several machines could do it. named:
    # passed on to the machine of the parameter `node`, else refused with the reason. file: passed
    # on to the machine with a session in the folder of the file.
    "GET /api/health": ("merged", "merged"),
    "GET /api/metrics": ("own", "merged"),
    "GET /api/openapi.json": ("own", "own"),
    "GET /api/sessions": ("merged", "own"),
    "GET /api/search": ("merged", "merged"),
    "GET /api/sessions/{session}/export": ("session", "session"),
    "POST /api/uploads": ("own", "own"),
    "GET /api/files": ("file", "own"),
    "GET /api/sessions/{session}/names": ("session", "session"),
    "GET /api/folders": ("merged", "own"),
    "POST /api/codes": ("own", "own"),
    "GET /api/joining": ("own", "own"),
    "POST /api/joining/{device}": ("own", "own"),
    "GET /api/usage": ("merged", "merged"),
    "GET /api/sessions/{session}/log": ("session", "session"),
    "GET /api/sessions/{session}/drafts": ("session", "session"),
    "GET /api/reach": ("own", "own"),
    "POST /api/devices/{device}/name": ("own", "own"),
    "POST /api/devices/{device}/revoke": ("own", "own"),
    "GET /api/sessions/{session}/item": ("session", "session"),
    "POST /api/mentions": ("body", "merged"),
    "GET /api/names": ("merged", "own"),
    "GET /api/branch": ("merged", "own"),
    "GET /api/sessions/{session}/changes": ("session", "session"),
    "GET /api/sessions/{session}/patch": ("session", "session"),
    "GET /api/sessions/{session}/content": ("session", "session"),
    "GET /api/sessions/{session}/image": ("session", "session"),
    "GET /api/sessions/{session}/comments": ("session", "session"),
    "GET /api/sessions/{session}/git": ("session", "session"),
    "GET /api/sessions/{session}/git/hunks": ("session", "session"),
    "GET /api/sessions/{session}/git/losses": ("session", "session"),
    "GET /api/sessions/{session}/files": ("session", "session"),
    "GET /api/sessions/{session}/grep": ("session", "session"),
    "POST /api/recordings": ("named", "own"),
    "GET /api/sessions/{session}/frames": ("session", "session"),
    "GET /api/push": ("own", "own"),
    "POST /api/push": ("own", "own"),
    "POST /api/push/settings": ("own", "own"),
    "POST /api/push/remove": ("own", "own"),
    "POST /api/push/test": ("own", "own"),
    "GET /api/channels": ("own", "own"),
    "POST /api/channels": ("own", "own"),
    "POST /api/channels/change": ("own", "own"),
    "POST /api/channels/remove": ("own", "own"),
    "POST /api/channels/test": ("own", "own"),
    "GET /api/budgets": ("merged", "merged"),
    "POST /api/budgets": ("body", "merged"),
    "POST /api/budgets/remove": ("named", "merged"),
    "GET /api/profiles": ("merged", "own"),
    "POST /api/profiles": ("named", "own"),
    "POST /api/profiles/remove": ("named", "own"),
    "GET /api/limits": ("merged", "merged"),
    "GET /api/schedules": ("merged", "merged"),
    "POST /api/schedules": ("body", "merged"),
    "POST /api/schedules/remove": ("named", "merged"),
    # Without a token.
    "POST /api/pair": ("own", "own"),
    "POST /api/probe": ("own", "own"),
    "POST /api/push/deny": ("own", "own"),
}

INTENTS = {
    # Intent: (at a gateway, at the front of workers), if not "session" for both.
    #
    # session: by the process of its session. sessions: divided. folder: by the machine that the client
    # chose, or one with this folder; at the front by the front, worker: by the process of a session
    # in this worktree. terminal: by the process of its terminal. all: by all processes.
    "new_session": ("folder", "worker"),
    "add_worktree": ("folder", "front"),
    "worktrees": ("folder", "front"),
    "set_worktree_setup": ("folder", "front"),
    "worktree_losses": ("folder", "front"),
    "finish_worktree": ("folder", "front"),
    "project_programs": ("folder", "front"),
    "trust_project": ("folder", "front"),
    "delete_sessions": ("sessions", "sessions"),
    "undo_delete": ("sessions", "sessions"),
    "continue_at_reset_by_default": ("all", "all"),
    "close_terminal": ("terminal", "terminal"),
    "revoke_device": ("own", "front"),
}
BY_SESSION = {
    "resume", "fork", "rename", "pin", "archive", "set_tags", "stop", "restart", "send", "edit_prompt",
    "cancel_prompt", "reorder_prompts", "send_now", "keep_draft", "put_comment", "delete_comment",
    "resolve_comment", "send_review", "git_stage", "git_discard", "git_commit", "interrupt", "decide",
    "answer_questions", "decide_plan", "undo_answer", "confirm_answer", "answer_elicitation",
    "answer_dialog", "set_model", "set_mode", "set_effort", "set_fast_mode", "stop_task", "mcp_toggle",
    "mcp_reconnect", "mcp_sign_in", "refresh", "task_output", "rewind_files", "continue_at_reset",
    "open_terminal",
}  # fmt: skip

GIVEN = {"/api/search": "q=a", "/api/usage": "bounds=0,9999999999", "/api/folders": "path=/"}
QUERY = "path=/nowhere/notes.txt&cwd={folder}&q=a"


NO_SESSION = ("Session not found.", "Session 'nosuch' not found.")
"""What the front of workers and a gateway say before they pass a request on."""


def name_of(route: Route) -> str:
    return f"{route.method} {route.path}"


async def test_N48_every_route_is_handled_by_a_gateway_as_the_table_says(tmp_path: Path) -> None:
    async with fleet(tmp_path, nodes=2, gateways=1) as team:
        gate, node = team.gateways[0], team.nodes[0]
        routes = {name_of(route): route for route in node.service.api.routes}
        assert routes.keys() == ROUTES.keys()
        token = f"Bearer {await gate.token()}"
        folder = node.project  # No session is here, so no machine can be chosen by it.
        found = {}
        for name, route in routes.items():
            path = route.path.replace("{session}", "nosuch").replace("{device}", "nosuch")
            query = GIVEN.get(route.path, QUERY.format(folder=folder))
            body: Any = None if route.method == "GET" else {}
            answer = await gate.http(
                f"{path}?{query}", method=route.method, body=body, Authorization=token
            )
            found[name] = _handling(route, *answer[:2])
        assert found == {name: how[0] for name, how in ROUTES.items()}


def _handling(route: Route, status: int, body: bytes) -> str:
    text = body.decode(errors="replace")
    if status == 400 and json.loads(text)["message"] == WHICH:
        kinds = {"/api/files": "file", "/api/mentions": "body", "/api/schedules": "body"}
        return {**kinds, "/api/budgets": "body"}.get(route.path, "named")
    if status == 404 and "{session}" in route.path:
        message = json.loads(text)["message"]
        return "session" if message in NO_SESSION else "own"
    try:
        merged = "machines" in json.loads(text)
    except ValueError:
        merged = False
    return "merged" if merged and route.method == "GET" else "own"


async def test_N48_every_route_is_handled_by_the_front_as_the_table_says(tmp_path: Path) -> None:
    async with with_workers(tmp_path, workers=1) as served:
        api = served.front.worker_api
        assert {name_of(route) for route in api.routes} == ROUTES.keys()
        found = {}
        for route in api.routes:
            own = "session" if "{session}" in route.path else "own"
            found[name_of(route)] = "merged" if name_of(route) in api.merged else own
        assert found == {name: how[1] for name, how in ROUTES.items()}


def intents() -> dict[str, type[BaseIntent]]:
    return {str(kind.__struct_config__.tag): kind for kind in get_args(Intent)}


def test_N48_every_intent_is_in_the_table() -> None:
    assert intents().keys() == INTENTS.keys() | BY_SESSION
    assert not INTENTS.keys() & BY_SESSION


def test_N48_every_intent_is_handled_by_a_gateway_as_the_table_says() -> None:
    found = {}
    for tag, kind in intents().items():
        if tag == "revoke_device":
            found[tag] = "own"  # Before anything is passed on.
            continue
        parts = routed(_example(kind), "", _owner, ["a", "b"])
        nodes = None if parts is None else [part.node for part in parts]
        found[tag] = _routing(kind, nodes, ["a", "b"])
    wanted = dict.fromkeys(BY_SESSION, "session") | {tag: how[0] for tag, how in INTENTS.items()}
    assert found == wanted


async def test_N48_every_intent_is_handled_by_the_front_as_the_table_says(tmp_path: Path) -> None:
    async with with_workers(tmp_path, workers=2) as served:
        client = await served.client()
        sessions: dict[str, str] = {}
        while len(set(sessions.values())) < 2:
            session = await client.new_session()
            owner = served.front.directory.owner(session)
            assert owner is not None
            sessions[session] = owner[0]
        one, other = (
            next(s for s, w in sessions.items() if w == worker) for worker in ("worker1", "worker2")
        )
        names = {"s1": one, "s2": other}
        device = Device(
            id="d", name="", role="owner", token_hash="", created=0.0, last_seen=0.0, revoked=None
        )
        found = {}
        for tag, kind in intents().items():
            intent: Any = _example(kind, names)
            parts = served.front.documents._parts(device, "client", 1, intent)
            if parts == [FRONT]:
                found[tag] = "front"
                continue
            nodes = [part.node for part in parts]
            here = served.front.directory.here()
            found[tag] = "worker" if tag == "new_session" else _routing(kind, nodes, here)
        wanted = dict.fromkeys(BY_SESSION, "session")
        assert found == wanted | {tag: how[1] for tag, how in INTENTS.items()}


def _routing(kind: type[BaseIntent], nodes: list[str] | None, here: list[str]) -> str:
    if nodes is None:
        return "folder"
    if "sessions" in kind.__struct_fields__:
        return "sessions" if len(nodes) == 2 else "?"
    if len(nodes) > 1:
        return "all" if set(nodes) - {FRONT} == set(here) else "?"
    return "terminal" if "terminal" in kind.__struct_fields__ else "session"


def _owner(session: str) -> tuple[str, str]:
    return {"s1": ("a", "s1"), "s2": ("b", "s2")}[session]


def _example(kind: type[BaseIntent], names: dict[str, str] | None = None) -> BaseIntent:
    """An intent with some value for each required field."""
    names = names or {"s1": "s1", "s2": "s2"}
    given: dict[str, Any] = {
        "session": names["s1"],
        "sessions": (names["s1"], names["s2"]),
        "terminal": "worker1__t1",
        "cwd": "/nowhere",
    }
    values = {}
    for field in structs.fields(kind):
        if field.name in given:
            values[field.name] = given[field.name]
        elif field.required:
            values[field.name] = ""
    return kind(**values)
