"""A small MCP server on stdio whose behavior its first argument selects; standard library only.

`good` works, `exits` ends at once, `refuses` answers `initialize` with an error, `crashes` ends
during the first call, `empty` has no tools.
"""

from __future__ import annotations

import json
import sys
from typing import Any

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}


def main(mode: str) -> None:
    if mode == "exits":
        sys.exit(3)
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        if mode == "crashes" and message["method"] == "tools/call":
            sys.exit(3)
        reply = {"jsonrpc": "2.0", "id": message["id"], **answer(message, mode)}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


def answer(message: dict[str, Any], mode: str) -> dict[str, Any]:
    params = message.get("params") or {}
    match message["method"]:
        case "initialize" if mode == "refuses":
            return {"error": {"code": -32603, "message": "cannot start"}}
        case "initialize":
            return {
                "result": {
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "small", "version": "1"},
                }
            }
        case "tools/list":
            tool = {"name": "echo", "description": "Returns a text", "inputSchema": SCHEMA}
            return {"result": {"tools": [] if mode == "empty" else [tool]}}
        case "tools/call":
            text = str(params.get("arguments", {}).get("text", ""))
            return {"result": {"content": [{"type": "text", "text": text}]}}
        case _:
            return {"error": {"code": -32601, "message": "Method not found"}}


if __name__ == "__main__":
    main(sys.argv[1])
