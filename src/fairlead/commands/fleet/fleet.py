"""`fairlead fleet`: invites, lists, drains and removes the machines of a fleet, and checks it.

`invite`, `list`, `drain`, `remove` and `backup` run on the machine of the gateway, as the user who runs it; `doctor`
also runs on a node.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from fairlead.commands.console.terminal import Style
from fairlead.commands.fleet.fleet_check import check_fleet
from fairlead.commands.fleet.gateway_folder import default_gateway_folder
from fairlead.commands.fleet.inviting import invite
from fairlead.commands.fleet.machine_text import machine_state
from fairlead.fleet.enrollment.control_channel import ask_gateway

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `fairlead fleet`."""
    parser.add_argument("--data", type=Path, help="the data folder (default: the gateway's)")
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    inviting = actions.add_parser(
        "invite", help="print a link for one machine, and ask for its number"
    )
    inviting.add_argument(
        "--no-wait",
        action="store_true",
        help="only print the link; an owner confirms the machine in the web app",
    )
    inviting.add_argument(
        "--gateway", action="store_true", help="a link for a further gateway, not for a machine"
    )
    inviting.set_defaults(act=_invite)
    listing = actions.add_parser("list", help="list the machines")
    listing.set_defaults(act=_list)
    draining = actions.add_parser("drain", help="start no new sessions on a machine")
    draining.add_argument("machine", help="its name or id")
    draining.add_argument("--undo", action="store_true", help="start new sessions there again")
    draining.set_defaults(act=_drain)
    removing = actions.add_parser("remove", help="remove a machine; it is disconnected at once")
    removing.add_argument("machine", help="its name or id")
    removing.set_defaults(act=_remove)
    backing_up = actions.add_parser(
        "backup", help="copy the keys, devices and machines of the running gateway to a file"
    )
    backing_up.add_argument("file", type=Path, help="a new file; it will contain private keys")
    backing_up.set_defaults(act=_back_up)
    restoring = actions.add_parser("restore", help="make a data folder from a backup")
    restoring.add_argument("file", type=Path, help="the backup")
    restoring.set_defaults(act=_restore)
    doctor = actions.add_parser("doctor", help="check the bus, its storage and the keys")
    doctor.set_defaults(act=_doctor)


def run(arguments: argparse.Namespace) -> int:
    """Carry out the action; returns the exit code."""
    arguments.data = arguments.data or default_gateway_folder()
    return int(arguments.act(arguments))


def _invite(arguments: argparse.Namespace) -> int:
    return invite(arguments.data, wait=not arguments.no_wait, gateway=arguments.gateway)


def _list(arguments: argparse.Namespace) -> int:
    style = Style()
    nodes = ask_gateway(arguments.data, "list")
    width = max([24, *(len(node["name"]) for node in nodes)])
    now = time.time()
    for node in nodes:
        state = machine_state(node, now)
        shown = style.good(state) if node["here"] and not node.get("draining") else style.ask(state)
        kind = "  gateway" if node.get("kind") == "gateway" else ""
        print(f"{node['name']:{width}} {node['id']}  {shown}{kind}")
    if not any(node.get("kind") != "gateway" for node in nodes):
        print("No machine has joined. `fairlead fleet invite` prints a link for one.")
    return 0


def _drain(arguments: argparse.Namespace) -> int:
    name = ask_gateway(arguments.data, "drain", node=arguments.machine, draining=not arguments.undo)
    if arguments.undo:
        print(f"{name} gets new sessions again.")
    else:
        print(f"{name} gets no new sessions from the fleet. Running sessions continue.")
    return 0


def _remove(arguments: argparse.Namespace) -> int:
    name = ask_gateway(arguments.data, "remove", node=arguments.machine)
    print(f"{name} was removed and disconnected. Its sessions continue there, at its own address.")
    return 0


def _back_up(arguments: argparse.Namespace) -> int:
    target = arguments.file.absolute()
    backup = ask_gateway(arguments.data, "backup", file=str(target))
    print(f"{target} has {backup['files']} files and {backup['devices']} devices of the gateway.")
    print("It contains private keys: keep it where only you can read it.")
    return 0


def _restore(arguments: argparse.Namespace) -> int:
    from fairlead.fleet.enrollment.gateway_backup import restore

    count = restore(arguments.file, arguments.data)
    print(f"{arguments.data} has {count} files of the gateway. Start it with `fairlead gateway`.")
    print("Devices that were revoked after the backup can connect again: revoke them again.")
    return 0


def _doctor(arguments: argparse.Namespace) -> int:
    style = Style()
    findings = check_fleet(arguments.data)
    marks = {True: style.good("✓"), None: style.ask("!"), False: style.bad("✗")}
    for is_ok, text in findings:
        print(f"{marks[is_ok]} {text}")
    return 1 if any(is_ok is False for is_ok, _ in findings) else 0
