"""A CLI that passes its pipes on: its input goes to a socket, and what the socket sends is its
output.

    relay.py SOCKET [flags of the CLI …]

The first line on the socket is its argv. `fake_cli`, in the test's own process, is the other end.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading


def main() -> None:
    path, *flags = sys.argv[1:]
    if "--version" in flags:
        print("2.1.325 (Claude Code)", flush=True)  # noqa: T201 - this is a program
        return
    if flags[:2] == ["auth", "status"]:
        print('{"loggedIn": true}', flush=True)  # noqa: T201
        return
    link = socket.socket(socket.AF_UNIX)
    link.connect(path)
    link.sendall(json.dumps({"argv": flags, "cwd": os.getcwd()}).encode() + b"\n")
    threading.Thread(target=pass_on_output, args=(link,), daemon=True).start()
    while data := os.read(0, 65536):
        link.sendall(data)


def pass_on_output(link: socket.socket) -> None:
    while data := link.recv(65536):
        left = memoryview(data)
        while left:
            left = left[os.write(1, left) :]
    os._exit(0)


if __name__ == "__main__":
    main()
