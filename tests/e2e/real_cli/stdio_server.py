"""A small MCP server on stdio for a CLI to start, with nothing but the standard library.

Tools: `echo` gives its `text` back; `ask` puts a question to the user (an elicitation) and gives
the client's answer back as JSON. There is one resource, a page. Its first argument is a file that
gets every message it reads.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

Message = dict[str, Any]

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}
FORM = {
    "type": "object",
    "properties": {"name": {"type": "string", "description": "Your name"}},
    "required": ["name"],
}
TOOLS = [
    {"name": "echo", "description": "Gives a text back", "inputSchema": TEXT},
    {"name": "ask", "description": "Asks the user", "inputSchema": {"type": "object"}},
]

PAGE = {"uri": "ui://small/page", "mimeType": "text/html", "text": "<p>small</p>"}


def small_server(log: Path) -> Message:
    """How a CLI starts this server, as a value of `mcp_servers`."""
    return {"command": sys.executable, "args": [__file__, str(log)]}


def main(log: Path) -> None:
    while (message := read(log)) is not None:
        if "id" in message and "method" in message:
            result = answer(message, log)
            write({"jsonrpc": "2.0", "id": message["id"], "result": result})


def answer(message: Message, log: Path) -> Message:
    params = message.get("params", {})
    match message["method"]:
        case "initialize":
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}, "resources": {}},
                "serverInfo": {"name": "small", "version": "1.0.0"},
            }
        case "tools/list":
            return {"tools": TOOLS}
        case "resources/list":
            return {"resources": [{"uri": PAGE["uri"], "name": "page"}]}
        case "resources/read":
            return {"contents": [PAGE]}
        case "tools/call" if params["name"] == "ask":
            return text_result(json.dumps(elicit(log)))
        case "tools/call":
            return text_result(params["arguments"]["text"])
        case _:
            return {}


def elicit(log: Path) -> Message:
    """Ask the client to ask the user; gives its result or its error."""
    params = {"message": "Who are you?", "requestedSchema": FORM}
    request = {"jsonrpc": "2.0", "id": "e1", "method": "elicitation/create", "params": params}
    write(request)
    while (message := read(log)) is not None:
        if message.get("id") == "e1" and "method" not in message:
            return {key: message[key] for key in ("result", "error") if key in message}
    raise SystemExit("the client left without an answer")


def text_result(text: str) -> Message:
    return {"content": [{"type": "text", "text": text}]}


def read(log: Path) -> Message | None:
    line = sys.stdin.readline()
    if not line:
        return None
    with log.open("a") as file:
        file.write(line)
    message: Message = json.loads(line)
    return message


def write(message: Message) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
