"""Control lines of the CLI: W43 of docs/wire.md."""

from __future__ import annotations

import pytest

from fairlead.wire.control import (
    CanUseTool,
    ControlRequest,
    ControlResponse,
    McpMessage,
    PendingRequest,
)
from fairlead.wire.decode import decode, decode_object
from fairlead.wire.json_text import write
from tests.wire.recorded import VERSIONS, stdout


def test_W43_open_requests_come_next_to_the_body_of_a_response() -> None:
    request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}}
    pending = {"type": "control_request", "request_id": "p1", "request": request}
    dialog = {"request_id": "d1", "request": {"subtype": "request_user_dialog"}}
    line = {
        "type": "control_response",
        "response": {
            "subtype": "success",
            "request_id": "r1",
            "response": {"commands": []},
            "pending_permission_requests": [pending],
            "pending_user_dialog_requests": [dialog],
            "pending_elicitation_requests": [],
        },
    }
    message = decode(write(line))
    assert isinstance(message, ControlResponse)
    body = message.response
    assert body.response == {"commands": []}
    assert body.pending_permission_requests == (PendingRequest(request_id="p1", request=request),)
    assert body.pending_user_dialog_requests == (
        PendingRequest(request_id="d1", request=dialog["request"]),
    )
    assert body.pending_elicitation_requests == ()


def test_W43_an_open_request_can_be_read_like_the_line_it_was() -> None:
    request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}}
    lost = PendingRequest(request_id="p1", request=request)
    line = {"type": "control_request", "request_id": lost.request_id, "request": lost.request}
    message = decode_object(line)
    assert isinstance(message, ControlRequest)
    assert message.request == CanUseTool(tool_name="Bash", input={"command": "ls"})


def test_W43_an_error_that_says_already_initialized_carries_the_open_requests_too() -> None:
    # 2.1.38 refuses a second `initialize`, and lists what is open all the same.
    line = (
        b'{"type":"control_response","response":{"subtype":"error","request_id":"r1",'
        b'"error":"Already initialized","pending_permission_requests":[{"request_id":"p1"}]}}'
    )
    message = decode(line)
    assert isinstance(message, ControlResponse)
    assert message.response.error == "Already initialized"
    assert message.response.pending_permission_requests == (PendingRequest(request_id="p1"),)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_recorded_request_of_the_cli_can_be_answered(version: str) -> None:
    requests = [m for e in stdout(version) if isinstance(m := decode(e.line), ControlRequest)]
    assert requests
    assert all(request.request_id for request in requests)
    for request in requests:
        if isinstance(request.request, CanUseTool):
            assert request.request.tool_name
            assert request.request.tool_use_id


def test_a_response_of_an_mcp_client_is_read_like_its_requests() -> None:
    # rec 2.1.38/mcp_elicit: a JSON-RPC message without a method.
    seen = [
        m.request.message
        for e in stdout("2.1.38")
        if "mcp_elicit" in e.where
        and isinstance(m := decode(e.line), ControlRequest)
        and isinstance(m.request, McpMessage)
    ]
    assert any("method" not in message for message in seen)
    assert any("method" in message for message in seen)
