"""The other recipes of docs/remote.md: settings file, tunnels, Tailscale Serve, systemd."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from fairlead.commands.serving.settings import ServeSettings, read_settings
from fairlead.errors import UsageError
from fairlead.host.options.options import Options
from fairlead.server.policy import Policy
from fairlead.server.service import Address, Service, open_service
from tests.launching import python_launcher
from tests.server.conftest import AGENT, QUICK
from tests.server.raw_requests import ask, status_of, upgrade
from tests.server.remote.programs import find
from tests.server.remote.recipes import PATH, recipe
from tests.server.tls_proxy import ADDRESS, NAME, TlsProxy, https

PATIENCE_S = 60


@asynccontextmanager
async def server(folder: Path, address: Address) -> AsyncIterator[Service]:
    launcher = python_launcher(folder / "claude-scripted", AGENT, folder / "agent.log")
    async with open_service(
        data=folder / "data",
        options=Options(agent=launcher, graces=QUICK),
        agent="scripted",
        policy=Policy(roots=(folder,)),
        address=address,
    ) as service:
        running = asyncio.create_task(service.run())
        yield service
        service.stop()
        await asyncio.wait_for(running, PATIENCE_S)


@asynccontextmanager
async def tunnel(upstream: int, host: str, port: int) -> AsyncIterator[int]:
    """Forwards a port as `ssh -L` does: bytes only."""
    pipes: set[asyncio.Task[None]] = set()

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
        writer.close()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner, outer = await asyncio.open_connection("127.0.0.1", upstream)
        for ends in ((reader, outer), (inner, writer)):
            pipes.add(asyncio.create_task(pipe(*ends)))

    listener = await asyncio.start_server(accept, host, port)
    yield int(listener.sockets[0].getsockname()[1])
    listener.close()
    for task in pipes:
        task.cancel()


def serve_flags(text: str) -> list[str]:
    """The flags of the `fairlead serve` line of a recipe."""
    line = next(line for line in text.splitlines() if line.startswith("fairlead serve"))
    return shlex.split(line)[2:]


def test_R21_the_documented_settings_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "serve.toml").write_text(recipe("toml"))
    assert read_settings(tmp_path) == ServeSettings(
        public_url="https://agents.example.org/fairlead",
        trusted_proxy=("127.0.0.1",),
        pass_env=("SSH_AUTH_SOCK", "OTEL_*"),
    )
    assert read_settings(tmp_path / "nowhere") == ServeSettings()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("public_url = 3", "public_url must be a text"),
        ('trusted_proxy = "127.0.0.1"', "trusted_proxy must be a list of texts"),
        ('public-url = "https://a"', "unknown setting 'public-url'. The settings are"),
        ("public_url", "is not valid TOML"),
        ('terminal = "yes"', "terminal must be true or false"),
    ],
)
def test_R21_a_wrong_setting_stops_the_start(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "serve.toml").write_text(text)
    with pytest.raises(UsageError, match=re.escape(words)):
        read_settings(tmp_path)


@pytest.mark.parametrize(
    ("flags", "base"),
    [
        ([], "https://agents.example.org/fairlead"),
        (["--public-url", "https://flag.example.org/x"], "https://flag.example.org/x"),
    ],
)
async def test_R21_the_command_uses_the_file_and_a_flag_replaces_it(
    tmp_path: Path, flags: list[str], base: str
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "serve.toml").write_text(recipe("toml"))
    command = ["--agent", "demo", "--port", "0", "--no-browser", "--data", str(data), *flags]
    printed = await first_lines(["-m", "fairlead.commands.main", "serve", *command], tmp_path)
    assert f"open    {base}/#code=" in printed


async def test_R21_an_ssh_tunnel_with_the_same_port_needs_no_setting(tmp_path: Path) -> None:
    forward = ssh_forward(recipe("sh", 2))
    assert forward == ("8787", "[127.0.0.1]:8787")
    async with (
        server(tmp_path, Address()) as service,
        tunnel(service.port, "127.0.0.9", service.port),
    ):
        token = (await service.devices.make_device("test", "owner")).token
        for name in ("127.0.0.1", "localhost"):
            host = f"{name}:{service.port}"
            head = upgrade(
                "/ws", f"Host: {host}", f"Origin: http://{host}", f"Authorization: Bearer {token}"
            )
            assert status_of(await ask(service.port, head)) == 101


async def test_R21_an_ssh_tunnel_with_another_port_names_it(tmp_path: Path) -> None:
    text = recipe("sh", 3)
    assert ssh_forward(text) == ("9000", "[127.0.0.1]:8787")
    assert serve_flags(text) == ["--public-url", "http://localhost:9000"]
    async with tunnel(0, "127.0.0.1", 0) as port:
        pass  # A free port; the server has to know it before it starts.
    address = Address(public_url=f"http://localhost:{port}")
    async with server(tmp_path, address) as service, tunnel(service.port, "127.0.0.1", port):
        host = f"localhost:{port}"
        head = upgrade("/ws", f"Host: {host}", f"Origin: http://{host}")
        assert status_of(await ask(port, head)) == 101
        assert (
            status_of(await ask(port, upgrade("/ws", f"Host: {host}", "Origin: http://evil.test")))
            == 403
        )
        wrong = f"localhost:{port + 1}"
        assert (
            status_of(await ask(port, upgrade("/ws", f"Host: {wrong}", f"Origin: http://{wrong}")))
            == 421
        )


@pytest.mark.parametrize(("number", "path"), [(0, ""), (1, PATH)])
async def test_R21_tailscale_serve_removes_a_path_and_the_target_adds_it(
    tmp_path: Path, number: int, path: str
) -> None:
    text = recipe("sh", number)
    assert text.splitlines()[0].endswith(f" http://127.0.0.1:8787{path}")
    assert (f"--set-path {path}" in text) == bool(path)
    flags = serve_flags(text)
    assert flags[1].endswith(f".ts.net{path}")
    assert flags[2:] == ["--trusted-proxy", "127.0.0.1"]
    address = Address(public_url=f"https://{NAME}{path}", trusted_proxies=(ADDRESS,))
    async with server(tmp_path, address) as service:
        async with TlsProxy(service.port, (path, path)) as proxy:
            status, page = await https(proxy, f"{path}/s/1", f"Host: {NAME}")
            assert status == 200
            assert f'data-base="{path}/"' in page
        async with TlsProxy(service.port, (path, "")) as stripping:
            status, answer = await https(stripping, f"{path}/s/1", f"Host: {NAME}")
            assert (status == 404 and "pass the path on unchanged" in answer) or not path


async def test_R21_the_systemd_unit_is_valid_and_its_command_starts(tmp_path: Path) -> None:
    unit = recipe("ini")
    started = re.search(r"^ExecStart=(.*)$", unit, re.MULTILINE)
    assert started is not None
    program, *arguments = shlex.split(started[1])
    assert program == "%h/.local/bin/fairlead"
    file = tmp_path / "fairlead.service"
    file.write_text(unit.replace(program, sys.executable))
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(runtime)}
    command = [find("systemd-analyze"), "verify", "--user", "--man=no", str(file)]
    checked = await asyncio.to_thread(run, command, env)
    assert checked.returncode == 0, checked.stderr
    assert "fairlead.service" not in checked.stderr, checked.stderr
    more = ["--agent", "demo", "--port", "0", "--data", str(tmp_path / "data")]
    printed = await first_lines(["-m", "fairlead.commands.main", *arguments, *more], tmp_path)
    assert "open    http://127.0.0.1:" in printed


def run(command: list[str], env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, capture_output=True, text=True, env=env, timeout=PATIENCE_S, check=False
    )


def ssh_forward(text: str) -> tuple[str, str]:
    """The forwarded port of a recipe's command, as ssh itself understands it."""
    command = shlex.split(text.splitlines()[0])
    assert command[0] == "ssh"
    understood = subprocess.run(
        [find("ssh"), "-G", "-F", "none", *command[1:]],
        capture_output=True, text=True, timeout=PATIENCE_S, check=True,
    )  # fmt: skip
    line = next(line for line in understood.stdout.splitlines() if line.startswith("localforward "))
    _, port, target = line.split(" ")
    return port, target


async def first_lines(command: list[str], home: Path) -> str:
    """What a server prints until its link is there."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *command,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "HOME": str(home)},
    )
    assert process.stdout is not None
    printed = ""
    try:
        async with asyncio.timeout(PATIENCE_S):
            while "#code=" not in printed:
                line = await process.stdout.readline()
                assert line, printed
                printed += line.decode()
    finally:
        process.terminate()
        async with asyncio.timeout(PATIENCE_S):
            await process.communicate()
    return printed
