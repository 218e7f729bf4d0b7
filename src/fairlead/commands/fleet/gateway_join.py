"""`fairlead gateway join LINK`: becomes a further gateway of a fleet.

The gateway makes its own keys and sends only their public halves. It gets the addresses of the bus, and
the public key with which the first gateway signs the list of machines.
"""

from __future__ import annotations

import argparse
import ssl

from fairlead.commands.console.terminal import Style
from fairlead.commands.fleet.given_bus import BusMembership, store_membership
from fairlead.commands.serving.checks import check_data_folder
from fairlead.errors import UsageError
from fairlead.fleet.bus.nkey import NodeKey
from fairlead.fleet.enrollment.enrolling import BusAccess
from fairlead.fleet.enrollment.join_link import check_secure, parse_join_link
from fairlead.fleet.enrollment.join_request import join_fleet
from fairlead.fleet.enrollment.membership import default_name
from fairlead.store.database.folder import DataFolder

__all__ = ["join"]


async def join(arguments: argparse.Namespace) -> int:
    """Join; returns the exit code."""
    if arguments.link is None:
        raise UsageError(
            "fairlead gateway join needs the link of `fairlead fleet invite --gateway`, in quotes."
        )
    gateway, code = parse_join_link(arguments.link)
    check_secure(gateway, plain_allowed=arguments.i_understand_plain_http)
    check_data_folder(arguments.data)
    folder = DataFolder(arguments.data)
    folder.claim()
    try:
        style = Style()
        name = arguments.gateway_name or default_name()
        bus = arguments.data / "bus"
        bus.mkdir(mode=0o700, exist_ok=True)
        if (bus / "jetstream").exists():
            raise UsageError(
                f"{arguments.data} is the data folder of a gateway with its own bus. Name "
                "another folder with --data."
            )
        key, signer = NodeKey.stored_in(bus / "gateway.key"), NodeKey.stored_in(bus / "admin.key")

        def show(number: str) -> None:
            print(f"This gateway is {style.bold(name)}. Its number is {style.accent(number)}.")
            print("Compare it with the number on the other gateway, and confirm it there.")

        answer = await join_fleet(
            gateway,
            code,
            key.public,
            name,
            signer=signer.public,
            show_number=show,
            tls=_tls(arguments),
        )
        access = BusAccess(
            servers=tuple(answer["servers"]),
            authority=str(answer.get("authority", "")),
            root=str(answer.get("root", "")),
        )
        store_membership(bus, BusMembership(name=name, access=access))
    finally:
        folder.release()
    print(f"{style.good('✓')} joined the fleet of {gateway.base}. Start with `fairlead gateway`.")
    return 0


def _tls(arguments: argparse.Namespace) -> ssl.SSLContext:
    authority = arguments.gateway_ca
    return ssl.create_default_context(cafile=None if authority is None else str(authority))
