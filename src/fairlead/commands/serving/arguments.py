"""The arguments that `fairlead serve`, `node` and `gateway` share: where a server listens."""

from __future__ import annotations

import argparse
from pathlib import Path

from fairlead.commands.serving.checks import port_number

__all__ = ["add_address_arguments"]


def add_address_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments about addresses, TLS and proxies."""
    parser.add_argument(
        "--port",
        type=port_number,
        default=8787,
        help="the port for clients; 0 selects a free one (default: %(default)s)",
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="the address to listen on for clients (default: %(default)s)",
    )
    parser.add_argument(
        "--name", action="append", default=[], help="extra host name to accept (may be repeated)"
    )
    parser.add_argument("--certificate", type=Path, help="a TLS certificate (PEM)")
    parser.add_argument("--key", type=Path, help="its key (PEM)")
    parser.add_argument(
        "--i-understand-plain-http",
        action="store_true",
        help="listen beyond this machine without TLS; anyone on the network can then take over",
    )
    parser.add_argument(
        "--trusted-proxy",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="an address or network whose X-Forwarded-* headers are trusted (may be repeated)",
    )
    parser.add_argument(
        "--public-url",
        metavar="URL",
        help="the URL of a proxy for clients, such as https://agents.example.org/fairlead",
    )
