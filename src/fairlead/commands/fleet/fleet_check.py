"""What `fairlead fleet doctor` finds: programs, files, the connection to the bus, and its storage."""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path
from typing import Any

from fairlead.commands.fleet.machine_text import ago, counted, machine_state
from fairlead.errors import FairleadError
from fairlead.fleet.bus.bus import BusError
from fairlead.fleet.bus.nats_bus import NatsBus, tls_context
from fairlead.fleet.bus.nats_link import KEY_REFUSED
from fairlead.fleet.bus.nkey import NodeKey
from fairlead.fleet.bus.server_binary import find_server, version_of
from fairlead.fleet.enrollment.control_channel import ask_gateway
from fairlead.fleet.enrollment.gateway_backup import last_backup
from fairlead.fleet.enrollment.membership import FILE, has_key, node_key, read_membership
from fairlead.fleet.node.lease import is_held

__all__ = ["check_fleet"]

CONNECT_S = 10.0
OLD_BACKUP_S = 7 * 86_400

JOIN_AGAIN = "Join again: `fairlead fleet invite` on the gateway prints the link."

Finding = tuple[bool | None, str]
"""A sentence, and whether all is well; None for advice that concerns no problem."""


def check_fleet(data: Path) -> list[Finding]:
    """The findings about the gateway or the node of a data folder; nothing is changed."""
    # The findings say what is wrong with the connection.
    logging.getLogger("fairlead").addHandler(logging.NullHandler())
    if (data / "bus").is_dir():
        return asyncio.run(_gateway(data))
    if (data / FILE).exists():
        return asyncio.run(_node(data))
    return [
        (
            False,
            f"{data} has neither a gateway nor a node. Start `fairlead gateway`, or join with "
            "`fairlead node join`, or name the folder with --data.",
        )
    ]


async def _gateway(data: Path) -> list[Finding]:
    findings: list[Finding] = []
    try:
        program = await find_server()
        version = ".".join(map(str, await version_of(program)))
        findings.append((True, f"nats-server {version} ({program})"))
    except FairleadError as problem:
        findings.append((False, str(problem)))
    try:
        nodes = await asyncio.to_thread(ask_gateway, data, "list")
    except FairleadError as problem:
        return [*findings, (False, str(problem))]
    machines = sum(node.get("kind") != "gateway" for node in nodes)
    others = len(nodes) - machines
    counts = f"{counted(machines, 'machine')} and {counted(others, 'further gateway')}"
    findings.append((True, f"the gateway runs, with {counts}"))
    findings += await _bus_of_gateway(data)
    findings.append(_backup(data))
    return [*findings, *map(_machine, nodes)]


async def _bus_of_gateway(data: Path) -> list[Finding]:
    try:
        bus = await asyncio.to_thread(ask_gateway, data, "bus")
    except FairleadError:  # Of an older gateway, which cannot say it.
        return []
    if not bus["connected"]:
        return [(False, f"the gateway has no connection to the bus: {bus['problem']}")]
    if bus["storage"]:
        return [(False, f"the storage of the bus cannot be used: {bus['storage']}")]
    return [(True, "the gateway is connected to the bus, and can read its storage")]


def _machine(node: dict[str, Any]) -> Finding:
    is_ok = (None if node.get("draining") else True) if node["here"] else False
    return is_ok, f"{node['name']} is {machine_state(node, time.time())}"


def _backup(data: Path) -> Finding:
    made = last_backup(data / "bus")
    if made is None:
        return None, "no backup was made yet; `fairlead fleet backup FILE` makes one"
    age = time.time() - made[0]
    finding = None if age > OLD_BACKUP_S else True
    return finding, f"the last backup was made {ago(age)} ago ({made[1]})"


async def _node(data: Path) -> list[Finding]:
    try:
        membership = read_membership(data)
        if not has_key(data):
            return [(False, f"the key of this machine is not in {data}. {JOIN_AGAIN}")]
        key = node_key(data)
    except FairleadError as problem:
        return [(False, str(problem))]
    findings: list[Finding] = [(True, f"this machine is {membership.name} ({membership.node})")]
    if key.id != membership.node:
        findings.append((False, f"the key is not the one that joined. {JOIN_AGAIN}"))
    bus = NatsBus(membership.servers, key, tls_context(membership.authority or None), name="doctor")
    bus.start()
    started = time.monotonic()
    try:
        if not await bus.wait_connected(CONNECT_S):
            return [*findings, (False, f"no connection to the bus: {_reason(bus)}")]
        took = (time.monotonic() - started) * 1000
        servers = " or ".join(membership.servers)
        findings.append((True, f"the bus at {servers} answers ({took:.0f} ms)"))
        findings += await _storage(bus, key)
    finally:
        await bus.close()
    return findings


def _reason(bus: NatsBus) -> str:
    return f"{bus.problem}. {JOIN_AGAIN}" if KEY_REFUSED in bus.problem else bus.problem


async def _storage(bus: NatsBus, key: NodeKey) -> list[Finding]:
    try:
        entry = await bus.bucket("lease").get(key.id)
        people = await bus.bucket("people").entries()
    except BusError as problem:
        return [(False, f"the storage of the bus cannot be used: {problem}")]
    known = (
        f"{counted(len(people), 'device')} of the fleet {'is' if len(people) == 1 else 'are'} known"
    )
    findings: list[Finding] = [(True, f"the storage of the bus can be read: {known}")]
    if entry is not None and is_held(entry.value):
        # A lease outlives a process that was killed.
        text = "a process speaks for this machine, or did so in the last 15 seconds"
        return [*findings, (True, text)]
    return [*findings, (None, "no process speaks for this machine; start it with `fairlead node`")]
