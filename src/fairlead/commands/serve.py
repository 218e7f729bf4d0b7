"""`fairlead serve`: the server and its web app, on this machine unless told otherwise.

Prints where it is and how to get in, opens the browser with a one-time code, and ends its
sessions cleanly at Ctrl-C (a second one ends at once).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import signal
import sys
import webbrowser
from collections.abc import Iterator
from pathlib import Path

from fairlead.commands.agents import Agent, choose
from fairlead.commands.terminal import Style
from fairlead.host.options import Options
from fairlead.server.policy import MODES, Policy
from fairlead.server.service import Address, Service, open_service
from fairlead.server.static import StaticFiles

__all__ = ["add_arguments", "default_data_folder", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `fairlead serve`."""
    parser.add_argument(
        "--agent", help="claude, demo, or the path of a CLI (default: what is there)"
    )
    parser.add_argument("--port", type=int, default=8787, help="the port; 0 takes a free one")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on")
    parser.add_argument("--name", action="append", default=[], help="another name clients may use")
    parser.add_argument("--certificate", type=Path, help="a TLS certificate (PEM)")
    parser.add_argument("--key", type=Path, help="its key (PEM)")
    parser.add_argument(
        "--i-understand-plain-http",
        action="store_true",
        help="listen beyond this machine without TLS: anybody on the network can take over",
    )
    parser.add_argument("--data", type=Path, help="where sessions are kept")
    parser.add_argument("--root", type=Path, action="append", default=[], help="folders to work in")
    parser.add_argument(
        "--mode-ceiling", choices=MODES, default="acceptEdits", help="most that clients may choose"
    )
    parser.add_argument("--no-browser", action="store_true", help="do not open the browser")
    parser.set_defaults(model=None, permission_mode="default", resume=None, record=None, cwd=".")


def default_data_folder() -> Path:
    """Where sessions are kept unless told otherwise."""
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "fairlead"


def run(arguments: argparse.Namespace) -> int:
    """Serve until Ctrl-C; returns the exit code."""
    logging.basicConfig(level=logging.WARNING, format="fairlead: %(message)s", stream=sys.stderr)
    return asyncio.run(_serve(arguments))


async def _serve(arguments: argparse.Namespace) -> int:
    address = Address(
        host=arguments.host,
        port=arguments.port,
        names=tuple(arguments.name),
        certificate=arguments.certificate,
        key=arguments.key,
        plain_http=arguments.i_understand_plain_http,
    )
    data = arguments.data or default_data_folder()
    async with choose(arguments) as agent:
        options = Options(
            **{k: v for k, v in agent.options.items() if k not in ("resume", "record")}
        )
        async with open_service(
            data=data,
            options=options,
            agent=arguments.agent or str(options.agent),
            address=address,
            policy=_policy(arguments, agent),
            projects=_projects(agent),
        ) as service:
            _introduce(service, agent, data)
            if not arguments.no_browser:
                webbrowser.open(service.launch_link())
            with _stopping_at_ctrl_c(service):
                await service.run()
    return 0


def _policy(arguments: argparse.Namespace, agent: Agent) -> Policy:
    roots = [root.resolve() for root in arguments.root]
    if not roots and agent.demo:
        roots = [Path(agent.options["cwd"])]
    return Policy(
        roots=tuple(roots),
        mode_ceiling=arguments.mode_ceiling,
        env=agent.options.get("env", {}),
        inherit_env=agent.options.get("inherit_env", True),
    )


def _projects(agent: Agent) -> Path | None:
    """The CLI's own sessions of this user; the demo has a home of its own."""
    home = agent.options.get("env", {}).get("HOME") if agent.demo else str(Path.home())
    return Path(home, ".claude", "projects") if home else None


def _introduce(service: Service, agent: Agent, data: Path) -> None:
    style = Style()
    print(f"{style.bold('Fairlead')} at {style.accent(service.base_url)}")
    print(f"  agent   {agent.introduction}")
    print(f"  data    {data}")
    if not StaticFiles().built:
        print(style.ask("  the web app is not built; run `make web`"))
    print(f"  open    {service.launch_link()}")
    print(style.dim("          (works once, for a minute; Ctrl-C ends everything)"))
    if service.address.host not in ("127.0.0.1", "::1", "localhost"):
        _show_qr_code(service)
    sys.stdout.flush()


def _show_qr_code(service: Service) -> None:
    import segno

    print("  phone   scan this:")
    segno.make(service.launch_link("approver"), error="l").terminal(compact=True)


@contextlib.contextmanager
def _stopping_at_ctrl_c(service: Service) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, service.stop)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
