"""`fairlead serve`: the server and its web app, on this machine unless told otherwise.

Prints where it is and how to get in, opens the browser with a one-time code, and ends its
sessions cleanly at Ctrl-C (a second one ends at once).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import socket
import sys
import webbrowser
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fairlead.commands.agents import Agent, choose
from fairlead.commands.terminal import Style
from fairlead.host import agent as agents
from fairlead.host.environment import child_environment
from fairlead.host.options import Options
from fairlead.server.garbage import sweep_forever
from fairlead.server.policy import MODES, Policy
from fairlead.server.redaction import log_to
from fairlead.server.service import Address, Service, open_service
from fairlead.server.static import StaticFiles
from fairlead.wire.versions import Version

__all__ = ["add_arguments", "default_data_folder", "run"]


EVERYWHERE = {"0.0.0.0": "192.0.2.1", "::": "2001:db8::1"}
"""What means every address of this machine, and an address elsewhere that is nobody's."""

SWITCH_S = 0.0005
"""How long one thread may keep the interpreter while another waits for it."""


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
    log_to(sys.stderr)
    # The store's thread takes the interpreter back after every statement, and would wait five
    # milliseconds for it each time while the event loop is busy.
    sys.setswitchinterval(SWITCH_S)
    return asyncio.run(_serve(arguments))


async def _serve(arguments: argparse.Namespace) -> int:
    address = Address(
        host=arguments.host,
        port=arguments.port,
        names=tuple(arguments.name) or _own_names(arguments.host),
        certificate=arguments.certificate,
        key=arguments.key,
        plain_http=arguments.i_understand_plain_http,
    )
    data = arguments.data or default_data_folder()
    async with choose(arguments) as agent:
        options = Options(
            **{k: v for k, v in agent.options.items() if k not in ("resume", "record")}
        )
        found = None if agent.demo else await _look_at(options)
        async with open_service(
            data=data,
            options=options,
            agent=arguments.agent or str(options.agent),
            address=address,
            policy=_policy(arguments, agent),
            projects=_projects(agent),
        ) as service:
            _introduce(service, agent, found, data)
            if not arguments.no_browser:
                # A browser's command line is read by every user of the machine.
                webbrowser.open(service.launch_link(user=os.getuid()))
            sweeping = asyncio.create_task(sweep_forever(lambda: service.registry.sessions.working))
            with _stopping_at_ctrl_c(service):
                await service.run()
            sweeping.cancel()
    return 0


def _own_names(host: str) -> tuple[str, ...]:
    """The address of this machine, for a server on all of them: it answers only to names (R3)."""
    if host not in EVERYWHERE:
        return ()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            # Nothing is sent: the system only says from which address it would be.
            probe.connect((EVERYWHERE[host], 9))
        except OSError:
            return ()
        return (str(probe.getsockname()[0]),)


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


@dataclass(frozen=True, slots=True)
class _Found:
    """The CLI that sessions will run."""

    version: Version
    logged_in: bool | None


async def _look_at(options: Options) -> _Found:
    """The CLI, looked at now: a server whose every session fails had better not start."""
    env = child_environment(os.environ, options)
    executable = agents.find(str(options.agent), env.get("PATH"))
    version = await agents.version_of(executable, env)
    return _Found(version, await agents.is_logged_in(executable, version, env))


def _introduce(service: Service, agent: Agent, found: _Found | None, data: Path) -> None:
    style = Style()
    print(f"{style.bold('Fairlead')} at {style.accent(service.base_url)}")
    print(f"  agent   {agent.introduction}")
    if found is not None:
        print(f"  version {found.version}")
    if found is not None and found.logged_in is False:
        words = "not logged in, so every turn will fail: start `claude` in a terminal, say /login"
        print(style.ask(f"          {words}"))
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
