"""`fairlead gateway`: serves browsers for many machines, and runs the bus that connects them.

It runs no CLI. Machines join with the links of `fairlead fleet invite` and connect outward to the
bus, so they can be behind NAT.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from fairlead.commands.console.terminal import Style
from fairlead.commands.fleet.gateway_folder import default_gateway_folder
from fairlead.commands.serve import address_of_arguments
from fairlead.commands.serving.arguments import add_address_arguments
from fairlead.commands.serving.checks import check_data_folder, check_tls, port_number
from fairlead.errors import UsageError
from fairlead.server import event_loop
from fairlead.server.access.owner_channel import owner_channel
from fairlead.server.hardening import hide_memory, warning_as_root
from fairlead.server.limits import Limits
from fairlead.server.memory.gc_tuning import sweep_forever
from fairlead.server.memory.heap import share_heap
from fairlead.server.redaction import log_to
from fairlead.server.refusal import Refusal
from fairlead.store.database.folder import DataFolder
from fairlead.store.tables.audit import AuditRecord

if TYPE_CHECKING:
    from fairlead.commands.fleet.given_bus import GivenBus
    from fairlead.commands.fleet.own_bus import BusSettings, OwnBus
    from fairlead.fleet.bus.bus import Bus
    from fairlead.fleet.enrollment.enrolling import Enrollment
    from fairlead.fleet.enrollment.shared_roster import SharedRoster
    from fairlead.fleet.gateway.gateway import Gateway
    from fairlead.server.protocol.lobby_rows import NodeRow
    from fairlead.server.web_server import Address

__all__ = ["add_arguments", "run"]

CONNECT_S = 20.0
STORAGE_S = 60.0
"""How long a gateway waits at its start until the storage of the bus can be written."""
BUS_PORT = 4222
LINK_AGAIN_S = 1.0
FLEET_KEY = ("access", "secret")
"""A key that every fleet has, and its bucket."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `fairlead gateway`."""
    parser.add_argument(
        "action", nargs="?", choices=["join"], help="join a fleet as a further gateway"
    )
    parser.add_argument(
        "link", nargs="?", help="the link of `fairlead fleet invite --gateway`, in quotes"
    )
    parser.add_argument(
        "--gateway-name",
        metavar="NAME",
        help="join: the display name of this gateway (default: its host name)",
    )
    parser.add_argument(
        "--gateway-ca", type=Path, metavar="FILE", help="join: accept this authority (PEM)"
    )
    add_address_arguments(parser)
    parser.add_argument("--data", type=Path, help="the data folder of the gateway")
    parser.add_argument(
        "--archive",
        type=Path,
        metavar="FOLDER",
        help="keep the logs that machines copy to the bus in this folder permanently, readable by "
        "this user; they can be searched, and continued on another machine when theirs is gone",
    )
    _add_bus_arguments(parser)


def _add_bus_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments about the bus: one that the gateway runs, or one that it uses."""
    parser.add_argument(
        "--bus-host",
        metavar="ADDRESS",
        help="the address on which the bus listens for machines (default: all, or this machine "
        "only if browsers can also connect only from it)",
    )
    parser.add_argument(
        "--bus-port", type=port_number, default=BUS_PORT, help="the port of the bus (default: 4222)"
    )
    parser.add_argument(
        "--bus-websocket-port",
        type=port_number,
        metavar="PORT",
        help="also accept machines over wss on this port, for networks that allow only 443",
    )
    parser.add_argument(
        "--bus-name",
        metavar="NAME",
        help="the name by which machines reach the bus (default: that of the gateway)",
    )
    parser.add_argument(
        "--bus",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="use the nats-server at this address, such as tls://nats-1:4222, instead of "
        "starting one; its configuration must include bus/accounts.conf of the data folder (may be repeated)",
    )
    parser.add_argument("--bus-ca", type=Path, metavar="FILE", help="--bus: its authority (PEM)")
    parser.add_argument(
        "--bus-reload",
        metavar="COMMAND",
        help="--bus: the command that copies bus/accounts.conf to the servers and makes them reload "
        "it, when a machine joins or is removed",
    )
    parser.add_argument(
        "--bus-replicas",
        type=int,
        choices=(1, 3, 5),
        default=1,
        help="--bus: how many servers store each key and log (default: 1)",
    )
    parser.add_argument(
        "--nats-server",
        metavar="PROGRAM",
        help="the nats-server to run (default: the installed one)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until Ctrl-C; returns the exit code."""
    check_tls(arguments.certificate, arguments.key)
    arguments.data = arguments.data or default_gateway_folder()
    if arguments.action == "join":
        from fairlead.commands.fleet.gateway_join import join

        return asyncio.run(join(arguments))
    address = address_of_arguments(arguments)
    check_data_folder(arguments.data)
    log_to(sys.stderr)
    hide_memory()
    share_heap()
    folder = DataFolder(arguments.data)
    folder.claim()
    try:
        return event_loop.run(_serve(arguments, address))
    finally:
        folder.release()


async def _serve(arguments: argparse.Namespace, address: Address) -> int:
    from fairlead.fleet.bus.storage_check import is_readable, storage_ready
    from fairlead.fleet.enrollment.announcing import announce_all
    from fairlead.fleet.enrollment.control_channel import control_channel
    from fairlead.fleet.enrollment.enrollment_routes import EnrollmentRoutes
    from fairlead.fleet.enrollment.gateway_backup import RESTORED, put_back
    from fairlead.fleet.enrollment.shared_roster import SharedRoster
    from fairlead.fleet.gateway.gateway import open_gateway
    from fairlead.fleet.protocol.permissions import GATEWAY_WRITES

    data: Path = arguments.data
    async with AsyncExitStack() as stack:
        bus = await _bus(arguments, stack)
        connection = await stack.enter_async_context(_connected(bus))
        if (data / "bus" / RESTORED).exists() or not await is_readable(connection, *FLEET_KEY):
            await storage_ready(connection, GATEWAY_WRITES, STORAGE_S)
        members = SharedRoster(
            bus.roster, connection, bus.signer, bus.access.root, apply=bus.apply_roster
        )
        enrollment = _enrollment(bus, connection, members)
        await put_back(connection, data / "bus")
        await members.start()
        stack.push_async_callback(members.close)
        await announce_all(connection, bus.roster.nodes)  # The storage of the bus may be new.
        sharing = asyncio.create_task(members.run())
        stack.callback(sharing.cancel)
        gateway = await stack.enter_async_context(
            open_gateway(
                connection,
                data=data,
                gateway_id=bus.key.id,
                address=address,
                routes=EnrollmentRoutes(enrollment, Limits()).routes,
                archive=arguments.archive,
            )
        )
        # No session works here, so that full collections run as soon as they are due.
        sweeping = asyncio.create_task(
            sweep_forever(lambda: False, lambda: gateway.mirrors.dropped)
        )
        stack.callback(sweeping.cancel)
        with _stopping_at_ctrl_c(gateway):
            async with (
                owner_channel(data, gateway.launch_link),
                control_channel(data, _commands(gateway, enrollment, connection, data)),
            ):
                introducing = asyncio.create_task(_introduce(gateway, bus, data))
                stack.callback(introducing.cancel)
                await gateway.run()
    return 0


async def _bus(arguments: argparse.Namespace, stack: AsyncExitStack) -> OwnBus | GivenBus:
    """The bus of the fleet that this gateway joined, or that it is given, or its own."""
    from fairlead.commands.fleet.given_bus import given_bus, joined_bus
    from fairlead.commands.fleet.own_bus import own_bus
    from fairlead.fleet.bus.nats_transport import check_address

    folder: Path = arguments.data / "bus"
    joined = joined_bus(folder, arguments.bus_reload)
    if joined is not None:
        return joined
    if arguments.bus:
        return await given_bus(
            folder,
            [check_address(each) for each in arguments.bus],
            arguments.bus_ca,
            arguments.bus_reload,
            arguments.bus_replicas,
            stack,
        )
    return await stack.enter_async_context(own_bus(folder, _bus_settings(arguments)))


def _bus_settings(arguments: argparse.Namespace) -> BusSettings:
    from fairlead.commands.fleet.own_bus import BusSettings
    from fairlead.fleet.bus.nats_server import free_port

    is_local = arguments.host in ("127.0.0.1", "::1", "localhost") and not arguments.public_url
    host = arguments.bus_host or ("127.0.0.1" if is_local else "0.0.0.0")
    public = urlsplit(arguments.public_url or "").hostname
    names = [*arguments.name, *([] if arguments.host in ("0.0.0.0", "::") else [arguments.host])]
    name = arguments.bus_name or public or next(iter(names), None)
    if name is None:
        raise UsageError(
            "--bus-name is needed: the name or address by which machines reach this one."
        )
    return BusSettings(
        host=host,
        port=arguments.bus_port or free_port(host),
        name=name,
        websocket_port=arguments.bus_websocket_port,
        program=arguments.nats_server,
    )


@contextlib.asynccontextmanager
async def _connected(bus: OwnBus | GivenBus) -> AsyncIterator[Bus]:
    from fairlead.fleet.bus.nats_bus import NatsBus, tls_context

    connection = NatsBus(
        bus.servers, bus.key, tls_context(bus.access.authority or None), name="gateway"
    )
    connection.start()
    try:
        if not await connection.wait_connected(CONNECT_S):
            raise UsageError(f"The gateway cannot connect to its bus: {connection.problem}.")
        yield connection
    finally:
        await connection.close()


def _enrollment(bus: OwnBus | GivenBus, connection: Bus, members: SharedRoster) -> Enrollment:
    from fairlead.fleet.enrollment.announcing import announce
    from fairlead.fleet.enrollment.enrolling import Enrollment
    from fairlead.fleet.gateway.devices.joining_devices import FleetCodes
    from fairlead.fleet.protocol.subjects import AUDIT_STREAM

    async def audit(action: str, details: dict[str, Any], device: str | None) -> None:
        record = AuditRecord(at=time.time(), action=action, device=device, details=details)
        await connection.stream(AUDIT_STREAM).append(
            f"fl.audit.{action}", msgspec.json.encode(record)
        )

    return Enrollment(
        members,
        bus.access,
        bucket=connection.bucket("access"),
        codes=FleetCodes(connection),
        audit=audit,
        announce=partial(announce, connection),
    )


def _commands(
    gateway: Gateway, enrollment: Enrollment, connection: Bus, data: Path
) -> dict[str, Any]:
    """What `fairlead fleet` can ask for."""
    from fairlead.fleet.bus.bus import BusError
    from fairlead.fleet.enrollment.gateway_backup import back_up
    from fairlead.fleet.enrollment.join_link import join_link
    from fairlead.fleet.protocol.envelopes import DrainAsk

    async def invite(question: dict[str, Any]) -> str:
        kind = "gateway" if question.get("gateway") else "machine"
        return join_link(gateway.base_url, await enrollment.invite(kind))

    async def waiting(_: dict[str, Any]) -> list[dict[str, str]]:
        return [
            {"id": each.id, "name": each.name, "address": each.address, "number": each.number}
            for each in await enrollment.waiting()
        ]

    async def answer(question: dict[str, Any]) -> str:
        machine = await enrollment.answer(
            str(question["node"]), None, allow=bool(question["allow"])
        )
        return machine.name

    async def remove(question: dict[str, Any]) -> str:
        return (await enrollment.remove(str(question["node"]), None)).name

    async def drain(question: dict[str, Any]) -> str:
        node = enrollment.roster.find(str(question["node"]))
        await gateway.client.drain(node.id, DrainAsk(draining=bool(question["draining"])))
        return node.name

    async def listing(_: dict[str, Any]) -> list[dict[str, Any]]:
        others = gateway.presence.gateways() | {gateway.id}
        nodes, gateways = enrollment.roster.nodes, enrollment.roster.gateways
        rows = {row.id: row for row in gateway.lobby.section("nodes")}
        return [
            *(_listed(node, "machine", rows.get(node.id)) for node in nodes),
            *(_member(each, "gateway", here=each.id in others) for each in gateways),
        ]

    async def bus(_: dict[str, Any]) -> dict[str, Any]:
        problem = ""
        if connection.connected:
            try:
                await connection.bucket("nodes").entries()
            except BusError as failure:
                problem = str(failure)
        known = getattr(connection, "problem", "")
        return {"connected": connection.connected, "problem": known, "storage": problem}

    async def backup(question: dict[str, Any]) -> dict[str, int]:
        return await back_up(connection, data / "bus", Path(str(question["file"])))

    return {
        "backup": backup,
        "bus": bus,
        "invite": invite,
        "waiting": waiting,
        "answer": answer,
        "remove": remove,
        "drain": drain,
        "list": listing,
    }


def _listed(node: Any, kind: str, row: NodeRow | None) -> dict[str, Any]:
    if row is None:
        return _member(node, kind, here=False)
    return {
        **_member(node, kind, here=row.state == "here"),
        "since": row.since,
        "draining": row.draining,
        "running": row.running,
        "problem": row.problem,
    }


def _member(member: Any, kind: str, *, here: bool) -> dict[str, Any]:
    return {
        "id": member.id, "name": member.name, "joined": member.joined, "kind": kind, "here": here
    }  # fmt: skip


async def _introduce(gateway: Gateway, bus: OwnBus | GivenBus, data: Path) -> None:
    style = Style()
    print(f"{style.bold('Fairlead gateway')} at {style.accent(gateway.base_url)}")
    print(f"  bus     {' and '.join(bus.access.servers)}")
    print(f"  data    {data}")
    count = len(bus.roster.nodes)
    print(f"  fleet   {count} machine{'' if count == 1 else 's'}; `fairlead fleet invite` adds one")
    if warning := warning_as_root():
        print(style.ask(f"  {warning}"))
    print(f"  open    {await _first_link(gateway)}")
    print(style.dim("          (valid once, for ten minutes; Ctrl-C ends the gateway,"))
    print(style.dim("          not the sessions, which run on the machines)"), flush=True)


async def _first_link(gateway: Gateway) -> str:
    """A link for the first device; the bus may not be able to store its code for some seconds."""
    while True:
        try:
            return await gateway.launch_link()
        except Refusal:
            await asyncio.sleep(LINK_AGAIN_S)


@contextlib.contextmanager
def _stopping_at_ctrl_c(gateway: Gateway) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, gateway.stop)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
