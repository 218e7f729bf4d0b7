"""A program that speaks just enough of the protocol to be started as a CLI, and asks the user.

    asking.py REQUESTS [flags of the CLI …]

REQUESTS is a JSON list. For each prompt it sends the next one as a control request and answers with
the response. `{"withdraw": request, "at": pipe}` is taken back when something comes down that pipe.
"""

from __future__ import annotations

import json
import sys
import threading
from typing import Any


def write(message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def main() -> None:
    requests = json.loads(sys.argv[1])
    if "--version" in sys.argv:
        sys.stdout.write("2.1.325 (Claude Code)\n")
        return
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "control_request":
            body = {"subtype": "success", "request_id": message["request_id"], "response": {}}
            write({"type": "control_response", "response": body})
        elif message["type"] == "control_response":
            finish(json.dumps(message["response"].get("response"), sort_keys=True))
        elif message["type"] == "user":
            ask(requests, message)


def ask(requests: list[Any], message: dict[str, Any]) -> None:
    write({"type": "system", "subtype": "init", "session_id": "s", "tools": []})
    if not requests:
        content = message["message"]["content"]
        text = content if isinstance(content, str) else content[0]["text"]
        finish("heard: " + json.dumps(text))
        return
    request = requests.pop(0)
    if "withdraw" in request:
        threading.Thread(target=withdraw, args=(request["at"],), daemon=True).start()
        request = request["withdraw"]
    write({"type": "control_request", "request_id": "r", "request": request})


def withdraw(pipe: str) -> None:
    with open(pipe) as file:
        file.read()
    write({"type": "control_cancel_request", "request_id": "r"})
    finish("it was withdrawn")


def finish(text: str) -> None:
    expected_text = {"role": "assistant", "id": "m", "content": [{"type": "text", "text": text}]}
    write({"type": "assistant", "message": expected_text})
    write({"type": "result", "subtype": "success", "is_error": False, "result": text})


if __name__ == "__main__":
    main()
