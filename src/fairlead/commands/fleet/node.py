"""`fairlead node`: `fairlead serve`, and a connection outward to the bus of a fleet.

`fairlead node join LINK` joins a fleet: it makes this machine's key, sends only the public half, and
shows a number that an owner compares with the one on the gateway.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from fairlead.commands import serve
from fairlead.commands.console.terminal import Style
from fairlead.commands.serving.checks import check_data_folder, check_root, default_data_folder
from fairlead.errors import UsageError
from fairlead.server.access.roles import ROLES
from fairlead.server.service import Service
from fairlead.store.database.folder import DataFolder

__all__ = ["add_arguments", "run"]

DRAIN_S = 20.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `fairlead node`."""
    parser.add_argument(
        "action", nargs="?", choices=["join"], help="join a fleet; without it, serve"
    )
    parser.add_argument("link", nargs="?", help="the link of `fairlead fleet invite`, in quotes")
    parser.add_argument(
        "--machine-name",
        metavar="NAME",
        help="the display name of this machine (default: its host name)",
    )
    parser.add_argument(
        "--new-identity", action="store_true", help="join: make a new key, for a copied machine"
    )
    parser.add_argument(
        "--gateway-ca", type=Path, metavar="FILE", help="join: accept this authority (PEM)"
    )
    parser.add_argument(
        "--fleet-role",
        choices=ROLES,
        default="owner",
        help="the highest role that devices of the fleet get on this machine",
    )
    parser.add_argument(
        "--copy-logs",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="copy the logs of sessions below this folder to the bus, so that they can be read "
        "while this machine is away; logs contain everything that the CLI read (may be repeated)",
    )
    parser.add_argument(
        "--drain-seconds",
        type=float,
        default=DRAIN_S,
        metavar="N",
        help="at SIGTERM, how long running turns may continue; the machine gets no new sessions "
        "meanwhile, and a second SIGTERM ends it at once (default: %(default)g)",
    )
    serve.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Join, or serve until Ctrl-C; returns the exit code."""
    arguments.data = arguments.data or default_data_folder()
    if arguments.action == "join":
        return asyncio.run(_join(arguments))
    from fairlead.fleet.enrollment.membership import read_membership

    read_membership(arguments.data)  # Before anything is started.
    arguments.copy_logs = [check_root(folder, "--copy-logs") for folder in arguments.copy_logs]
    return serve.run(arguments, lambda service: _connected(arguments, service))


async def _join(arguments: argparse.Namespace) -> int:
    from fairlead.fleet.enrollment.join_link import check_secure, parse_join_link
    from fairlead.fleet.enrollment.join_request import join_fleet
    from fairlead.fleet.enrollment.membership import Membership, default_name, node_key, store

    if arguments.link is None:
        raise UsageError("fairlead node join needs the link of `fairlead fleet invite`, in quotes.")
    gateway, code = parse_join_link(arguments.link)
    check_secure(gateway, plain_allowed=arguments.i_understand_plain_http)
    check_data_folder(arguments.data)
    folder = DataFolder(arguments.data)
    folder.claim()  # Also marks an empty folder as ours. A running server must be stopped first.
    try:
        style = Style()
        name = arguments.machine_name or default_name()
        key = node_key(arguments.data, new=arguments.new_identity)

        def show(number: str) -> None:
            print(f"This machine is {style.bold(name)}. Its number is {style.accent(number)}.")
            print("Compare it with the number on the gateway, and confirm it there.", flush=True)

        answer = await join_fleet(
            gateway, code, key.public, name, show_number=show, tls=_tls(arguments.gateway_ca)
        )
        membership = Membership(
            node=key.id,
            name=name,
            servers=tuple(answer["servers"]),
            authority=str(answer.get("authority", "")),
            gateway=gateway.base,
        )
        store(arguments.data, membership)
    finally:
        folder.release()
    print(f"{style.good('✓')} joined the fleet of {gateway.base}. Start with `fairlead node`.")
    return 0


def _tls(authority: Path | None) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=None if authority is None else str(authority))


@contextlib.asynccontextmanager
async def _connected(arguments: argparse.Namespace, service: Service) -> AsyncIterator[None]:
    """Speak for this server on the bus while it runs."""
    from fairlead.commands.fleet.draining import DrainedNode
    from fairlead.fleet.bus.nats_bus import NatsBus, tls_context
    from fairlead.fleet.enrollment.membership import node_key, read_membership
    from fairlead.fleet.node.lease import NodeLease, place_of
    from fairlead.fleet.node.leased_node import speaking_while_leased
    from fairlead.fleet.node.node import Node, open_node

    membership = read_membership(arguments.data)
    key = node_key(arguments.data)
    name = arguments.machine_name or membership.name
    bus = NatsBus(membership.servers, key, tls_context(membership.authority or None), name=name)
    bus.start()
    print(f"  fleet   {membership.gateway} knows this machine as {name}", flush=True)
    lease = NodeLease(
        bus.bucket("lease"), key.id, place_of(arguments.data), file=arguments.data / "lease.json"
    )
    drained = DrainedNode(service, arguments.drain_seconds)

    def open_this_node() -> AbstractAsyncContextManager[Node]:
        return open_node(
            service,
            bus,
            node_id=key.id,
            name=name,
            fleet_role=arguments.fleet_role,
            copied_folders=arguments.copy_logs,
        )

    try:
        with drained.at_sigterm():
            async with speaking_while_leased(lease, lambda: drained.speaking(open_this_node)):
                yield
    finally:
        await bus.close()
