"""`fairlead serve`: the server and its web app, by default on this machine only.

Prints its address and a link with a one-time code, opens the browser, prints a fresh link for
each Enter in its terminal and for each `fairlead link`, and ends its sessions cleanly at Ctrl-C
(a second one ends at once).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairlead.commands.agents import DEMO, Agent, add_env_argument, choose
from fairlead.commands.console.terminal import Style
from fairlead.commands.link import link_at_enter
from fairlead.commands.opening import LaunchPage
from fairlead.commands.serving.arguments import add_address_arguments
from fairlead.commands.serving.checks import (
    check_data_folder,
    check_root,
    check_tls,
    default_data_folder,
)
from fairlead.commands.serving.settings import apply_settings, read_settings
from fairlead.commands.serving.worker_command import run_worker, worker_count, workers_of
from fairlead.host.options import agent as agents
from fairlead.host.options.environment import child_environment
from fairlead.host.options.options import Options
from fairlead.host.options.passed_variables import passed_variables, unset_variables
from fairlead.server import event_loop
from fairlead.server.access.owner_channel import owner_channel
from fairlead.server.hardening import hide_memory, warning_as_root
from fairlead.server.http.static import is_built
from fairlead.server.limits import Limits
from fairlead.server.memory.gc_tuning import sweep_forever
from fairlead.server.memory.heap import share_heap
from fairlead.server.policy import MODES, Policy
from fairlead.server.redaction import log_to
from fairlead.server.service import Address, Service, open_service
from fairlead.server.worktree_settings import WorktreeSettings
from fairlead.wire.config_folder import projects_folder
from fairlead.wire.versions import Version

__all__ = ["Attach", "add_arguments", "address_of_arguments", "run"]


EVERYWHERE = {"0.0.0.0": "192.0.2.1", "::": "2001:db8::1"}
"""Addresses that mean every address of this machine, and a reserved address elsewhere."""

SWITCH_S = 0.0005
"""How long a thread may hold the interpreter lock while another waits for it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `fairlead serve`."""
    parser.add_argument(
        "--agent",
        help="claude, demo, or the path of a CLI (default: claude if installed, else demo)",
    )
    add_address_arguments(parser)
    parser.add_argument("--data", type=Path, help="the data folder")
    parser.add_argument(
        "--new-database",
        action="store_true",
        help="rename a database that cannot be used (it is kept) and create an empty one",
    )
    _add_session_arguments(parser)
    parser.add_argument(
        "--workers",
        type=worker_count,
        default=1,
        metavar="N",
        help="run sessions in N processes, separate from the one that serves clients (default: 1, all in "
        "one process)",
    )
    parser.add_argument("--worker", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--no-browser", action="store_true", help="do not open the browser")
    parser.set_defaults(model=None, permission_mode="default", resume=None, record=None, cwd=None)


def _add_session_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments about what sessions may do and what their CLI gets."""
    parser.add_argument(
        "--root",
        type=Path,
        action="append",
        default=[],
        help="folder sessions may work in (may be repeated; default: your home)",
    )
    parser.add_argument(
        "--worktrees",
        type=Path,
        metavar="DIR",
        help="folder for worktrees of sessions, below a root (default: .claude/worktrees of each repository)",
    )
    parser.add_argument(
        "--mode-ceiling",
        choices=MODES,
        default="acceptEdits",
        help="most permissive mode a client may select (default: %(default)s)",
    )
    parser.add_argument(
        "--terminal",
        action="store_true",
        help="let owners open a shell in the folders of sessions, without asking for each command",
    )
    add_env_argument(parser)
    parser.add_argument(
        "--pass-env",
        metavar="NAME",
        action="append",
        default=[],
        help="pass this variable on to the CLI if it is set; NAME* for a beginning (may be repeated)",
    )
    parser.add_argument(
        "--no-suggestions",
        action="store_true",
        help="do not suggest the next message (each suggestion is a request to the model)",
    )


Attach = Callable[[Service], AbstractAsyncContextManager[None]]
"""Connects a server to something else while it runs."""


def run(arguments: argparse.Namespace, attach: Attach | None = None) -> int:
    """Serve until Ctrl-C; returns the exit code. `attach` is for `fairlead node`."""
    check_tls(arguments.certificate, arguments.key)
    arguments.root = [check_root(root) for root in arguments.root]
    arguments.data = arguments.data or default_data_folder()
    settings = read_settings(arguments.data)
    apply_settings(arguments, settings)
    arguments.profiles = settings.profiles
    address = address_of_arguments(arguments)  # A refused address must leave no data folder behind.
    arguments.passed = passed_variables(arguments.pass_env, os.environ)
    for name in unset_variables(arguments.pass_env, os.environ):
        print(
            f"fairlead: --pass-env: {name} is not set, so the CLI does not get it", file=sys.stderr
        )
    check_data_folder(arguments.data)
    log_to(sys.stderr)
    # The store's thread acquires the interpreter lock after every statement, and would wait five
    # milliseconds for it each time while the event loop is busy.
    sys.setswitchinterval(SWITCH_S)
    hide_memory()
    share_heap()
    return event_loop.run(_serve(arguments, address, attach))


def address_of_arguments(arguments: argparse.Namespace) -> Address:
    """Where to listen, and which names to accept."""
    return Address(
        host=arguments.host,
        port=arguments.port,
        names=tuple(arguments.name) or _own_names(arguments.host),
        certificate=arguments.certificate,
        key=arguments.key,
        plain_http=arguments.i_understand_plain_http,
        trusted_proxies=tuple(arguments.trusted_proxy),
        public_url=arguments.public_url,
    )


async def _serve(arguments: argparse.Namespace, address: Address, attach: Attach | None) -> int:
    data: Path = arguments.data
    if arguments.worker:
        return await _serve_worker(arguments)
    demo = _demo_folder(data)
    async with choose(arguments, fall_back_to_demo=True, demo_folder=demo) as agent:
        options = _options(arguments, agent)
        status = None if agent.demo else await _check_cli(options)
        workers = workers_of(arguments)
        async with open_service(
            data=data,
            address=address,
            new_database=arguments.new_database,
            extend=None if workers is None else workers.front.extend,
            **_service_options(arguments, agent, options),
        ) as service:
            # Before the first line is printed, because the user may press Ctrl-C at once.
            with _stopping_at_ctrl_c(service):
                _introduce(service, agent, status, data, terminal=arguments.terminal)
                if not agent.demo:
                    await _introduce_profiles(service, options)
                _invite(service)
                sessions = service.registry.sessions
                sweeping = asyncio.create_task(
                    sweep_forever(lambda: sessions.working, lambda: sessions.retired)
                )
                with (
                    _browser(service, wanted=not arguments.no_browser),
                    link_at_enter(lambda: _print_link(service)) as typing,
                ):
                    if typing:
                        print(Style().dim("          Press Enter for a fresh link."), flush=True)
                    async with (
                        owner_channel(data, service.launch_link),
                        attach(service) if attach is not None else contextlib.nullcontext(),
                        contextlib.nullcontext() if workers is None else workers.running(service),
                    ):
                        await service.run()
            sweeping.cancel()
    return 0


async def _serve_worker(arguments: argparse.Namespace) -> int:
    """Run sessions for the front, until it ends."""
    async with choose(
        arguments, fall_back_to_demo=True, demo_folder=_demo_folder(arguments.data)
    ) as agent:
        options = _options(arguments, agent)
        return await run_worker(
            arguments.data,
            arguments.worker,
            arguments.workers,
            _service_options(arguments, agent, options),
        )


def _options(arguments: argparse.Namespace, agent: Agent) -> Options:
    return Options(
        **{k: v for k, v in agent.options.items() if k not in ("resume", "record")},
        pass_env=arguments.passed,
    )


def _service_options(
    arguments: argparse.Namespace, agent: Agent, options: Options
) -> dict[str, Any]:
    """What the processes of a server have in common."""
    return {
        "options": options,
        "agent": DEMO if agent.demo else arguments.agent or str(options.agent),
        "policy": _policy(arguments, agent),
        "projects": _projects(options),
        "profiles": arguments.profiles,
        "terminal": arguments.terminal,
    }


def _demo_folder(data: Path) -> Path:
    """A folder next to the data folder, whose content clients must not read."""
    folder = data.absolute()
    return folder.with_name(f"{folder.name}-demo")


def _own_names(host: str) -> tuple[str, ...]:
    """The address of this machine, for a server on all addresses: it checks host names (R3)."""
    if host not in EVERYWHERE:
        return ()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            # Nothing is sent: the system only selects the source address.
            probe.connect((EVERYWHERE[host], 9))
        except OSError:
            return ()
        return (str(probe.getsockname()[0]),)


def _policy(arguments: argparse.Namespace, agent: Agent) -> Policy:
    roots = list(arguments.root)
    if not roots and agent.demo:
        roots = [Path(agent.options["cwd"])]
    return Policy(
        roots=tuple(roots),
        mode_ceiling=arguments.mode_ceiling,
        env=agent.options.get("env", {}),
        inherit_env=agent.options.get("inherit_env", True),
        worktrees=WorktreeSettings(arguments.worktrees and arguments.worktrees.absolute()),
        suggestions=not arguments.no_suggestions,
    )


def _projects(options: Options) -> Path:
    """The folder in which a CLI with these options stores its sessions."""
    return Path(projects_folder(child_environment(os.environ, options), str(Path.home())))


@dataclass(frozen=True, slots=True)
class _CliStatus:
    """The CLI that sessions will run."""

    version: Version
    logged_in: bool | None


async def _check_cli(options: Options) -> _CliStatus:
    """Check the CLI at the start, so that a missing CLI is reported before any session fails."""
    env = child_environment(os.environ, options)
    executable = agents.find(str(options.agent), env.get("PATH"))
    version = await agents.version_of(executable, env)
    return _CliStatus(version, await agents.is_logged_in(executable, version, env))


def _introduce(
    service: Service, agent: Agent, status: _CliStatus | None, data: Path, *, terminal: bool
) -> None:
    style = Style()
    print(f"{style.bold('Fairlead')} at {style.accent(service.base_url)}")
    print(f"  agent   {agent.introduction}")
    if status is not None:
        print(f"  version {status.version}")
    if status is not None and status.logged_in is False:
        hint = "not logged in, so every turn will fail: run `claude` and type /login"
        print(style.ask(f"          {hint}"))
    print(f"  data    {data}")
    if terminal:
        print("  shells  every owner's device can open a terminal as this user (--terminal)")
    if warning := warning_as_root():
        print(style.ask(f"  {warning}"))
    if not is_built():
        print(style.ask("  the web app is not built; run `make web`, or reinstall fairlead"))


async def _introduce_profiles(service: Service, options: Options) -> None:
    """List the profiles, and which of them are logged in."""
    style, profiles = Style(), service.registry.sessions.profiles.all()
    if not profiles:
        return
    from fairlead.commands.serving.profile_checks import login_of

    states = await asyncio.gather(*(login_of(profile, options) for profile in profiles))
    for profile, state in zip(profiles, states, strict=True):
        print(f"  profile {profile.name} in {profile.config_dir}: {state.words}")
        if state.advice:
            print(style.ask(f"          {state.advice}"))


def _invite(service: Service) -> None:
    """Print the link, and a QR code if other devices can reach the server."""
    style = Style()
    _print_link(service)
    print(style.dim("          (valid once, for ten minutes; `fairlead link` prints another;"))
    print(style.dim("          Ctrl-C ends everything)"))
    reachable = service.address.host not in ("127.0.0.1", "::1", "localhost")
    if reachable or service.address.public_url is not None:
        _show_qr_code(service)
    sys.stdout.flush()


def _print_link(service: Service) -> None:
    print(f"  open    {service.launch_link()}", flush=True)


def _show_qr_code(service: Service) -> None:
    import segno

    print("  phone   scan this:")
    segno.make(service.launch_link("approver"), error="l").terminal(compact=True)


@contextlib.contextmanager
def _browser(service: Service, *, wanted: bool) -> Iterator[None]:
    """Open the app, and remove the page with the code at the end."""
    if not wanted:
        yield
        return
    # Behind a proxy the caller's user is unknown, so a code bound to a user would never work.
    bound = os.getuid() if service.address.public_url is None else None
    page = LaunchPage(service.launch_link(user=bound))
    removing = asyncio.get_running_loop().create_task(page.remove_after(Limits().launch_page_s))
    try:
        page.open()
        yield
    finally:
        removing.cancel()
        page.remove()


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
