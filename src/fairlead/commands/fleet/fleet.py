"""`fairlead fleet`: invites, lists, drains and removes the machines of a fleet, and checks it.

`invite`, `list`, `drain` and `remove` run on the machine of the gateway, as the user who runs it; `doctor`
also runs on a node.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from fairlead.commands.fleet.fleet_check import check_fleet
from fairlead.commands.fleet.inviting import invite
from fairlead.commands.fleet.needed import default_gateway_folder, need_fleet_packages
from fairlead.commands.terminal import Style
from fairlead.fleet.enrolment.control_channel import ask_gateway

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
    inviting.set_defaults(act=_invite)
    listing = actions.add_parser("list", help="list the machines")
    listing.set_defaults(act=_list)
    draining = actions.add_parser("drain", help="start no new sessions on a machine")
    draining.add_argument("machine", help="its name or id")
    draining.add_argument("--undo", action="store_true", help="start new sessions there again")
    draining.set_defaults(act=_drain)
    removing = actions.add_parser("remove", help="remove a machine; it is cut off at once")
    removing.add_argument("machine", help="its name or id")
    removing.set_defaults(act=_remove)
    doctor = actions.add_parser("doctor", help="check the bus, its storage and the keys")
    doctor.set_defaults(act=_doctor)


def run(arguments: argparse.Namespace) -> int:
    """Carry out the action; returns the exit code."""
    need_fleet_packages()
    arguments.data = arguments.data or default_gateway_folder()
    return int(arguments.act(arguments))


def _invite(arguments: argparse.Namespace) -> int:
    return invite(arguments.data, wait=not arguments.no_wait)


def _list(arguments: argparse.Namespace) -> int:
    style = Style()
    nodes = ask_gateway(arguments.data, "list")
    for node in nodes:
        state = style.good("here") if node["here"] else style.ask("away")
        print(f"{node['name']:24} {node['id']}  {state}")
    if not nodes:
        print("No machine has joined. `fairlead fleet invite` prints a link for one.")
    return 0


def _drain(arguments: argparse.Namespace) -> int:
    name = ask_gateway(arguments.data, "drain", node=arguments.machine, draining=not arguments.undo)
    if arguments.undo:
        print(f"{name} gets new sessions again.")
    else:
        print(f"{name} gets no new sessions of the fleet. Those that run there go on.")
    return 0


def _remove(arguments: argparse.Namespace) -> int:
    name = ask_gateway(arguments.data, "remove", node=arguments.machine)
    print(f"{name} is removed and cut off. Its sessions go on there, with its own address only.")
    return 0


def _doctor(arguments: argparse.Namespace) -> int:
    style = Style()
    findings = check_fleet(arguments.data)
    for is_ok, text in findings:
        print(f"{style.good('✓') if is_ok else style.bad('✗')} {text}")
    return 0 if all(is_ok for is_ok, _ in findings) else 1
