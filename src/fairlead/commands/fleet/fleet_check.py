"""What `fairlead fleet doctor` finds: programs, files, the connection to the bus, and its storage."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from fairlead.errors import FairleadError
from fairlead.fleet.bus.bus import BusError
from fairlead.fleet.bus.nats_bus import NatsBus, tls_context
from fairlead.fleet.bus.nkey import NodeKey
from fairlead.fleet.bus.server_binary import find_server, version_of
from fairlead.fleet.enrollment.control_channel import ask_gateway
from fairlead.fleet.enrollment.gateway_backup import last_backup
from fairlead.fleet.enrollment.membership import FILE, node_key, read_membership

__all__ = ["check_fleet"]

CONNECT_S = 10.0
HOUR_S, DAY_S = 3600, 86_400
OLD_BACKUP_S = 7 * DAY_S

Finding = tuple[bool | None, str]
"""A sentence, and whether all is well; None for advice that concerns no problem."""


def check_fleet(data: Path) -> list[Finding]:
    """The findings about the gateway or the node of a data folder; nothing is changed."""
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
    counts = f"{_count(machines, 'machine')} and {_count(others, 'further gateway')}"
    findings.append((True, f"the gateway runs, with {counts}"))
    findings.append(_backup(data))
    findings += [
        (node["here"], f"{node['name']} {'is here' if node['here'] else 'is away'}")
        for node in nodes
    ]
    return findings


def _backup(data: Path) -> Finding:
    made = last_backup(data / "bus")
    if made is None:
        return None, "no backup was made yet; `fairlead fleet backup FILE` makes one"
    age = time.time() - made[0]
    finding = None if age > OLD_BACKUP_S else True
    return finding, f"the last backup was made {_ago(age)} ({made[1]})"


def _ago(age: float) -> str:
    if age < HOUR_S:
        return "less than an hour ago"
    if age < DAY_S:
        return f"{_count(int(age / HOUR_S), 'hour')} ago"
    return f"{_count(int(age / DAY_S), 'day')} ago"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


async def _node(data: Path) -> list[Finding]:
    try:
        membership = read_membership(data)
        key = node_key(data)
    except FairleadError as problem:
        return [(False, str(problem))]
    findings: list[Finding] = [(True, f"this machine is {membership.name} ({membership.node})")]
    if key.id != membership.node:
        findings.append((False, "the key is not the one that joined. Join again."))
    bus = NatsBus(membership.servers, key, tls_context(membership.authority or None), name="doctor")
    bus.start()
    started = time.monotonic()
    try:
        if not await bus.wait_connected(CONNECT_S):
            return [*findings, (False, f"no connection to the bus: {bus.problem}")]
        took = (time.monotonic() - started) * 1000
        findings.append((True, f"the bus at {membership.servers[0]} answers ({took:.0f} ms)"))
        findings.append(await _lease(bus, key))
    finally:
        await bus.close()
    return findings


async def _lease(bus: NatsBus, key: NodeKey) -> Finding:
    try:
        entry = await bus.bucket("lease").get(key.id)
        people = await bus.bucket("people").entries()
    except BusError as problem:
        return False, f"the storage of the bus cannot be used: {problem}"
    state = "no process speaks for it" if entry is None else "a process speaks for it"
    return True, f"the storage of the bus can be read: {state}, {len(people)} devices are known"
