"""nginx and Caddy in front of a server, with the configuration text of docs/remote.md.

    async with real_proxy("nginx", "/fairlead", tmp_path) as proxy:
        ...  # start a server with proxy.public_url as its public URL
        await proxy.start(service.port)

The recipe keeps every line. Only its port, its certificate, its upstream port and, for a browser,
its name are replaced, and nginx gets the surrounding file that a site needs.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.server.remote.programs import find
from tests.server.remote.recipes import PATHS, recipe
from tests.server.tls_proxy import NAME

__all__ = ["KINDS", "RealProxy", "real_proxy"]

KINDS = ("nginx", "caddy")
PEM = Path(__file__).parents[1] / "tls_proxy.pem"
PATIENCE_S = 60.0

_NGINX = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
{user}
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {extra}
    include {folder}/site.conf;
}}
"""


@dataclass(slots=True)
class RealProxy:
    """One proxy; `start` runs it once the port of the server is known."""

    kind: str
    path: str
    folder: Path
    name: str
    port: int
    extra: str = ""
    """Further lines for nginx, around the recipe."""
    without: tuple[str, ...] = ()
    """Parts of the recipe that are left out, for a configuration with a mistake."""
    _process: asyncio.subprocess.Process | None = field(default=None, repr=False)

    @property
    def origin(self) -> str:
        return f"https://{self.name}:{self.port}"

    @property
    def public_url(self) -> str:
        return self.origin + self.path

    async def start(self, upstream: int) -> None:
        """Run the proxy, and wait until it accepts connections."""
        text = self._recipe(upstream)
        command = self._nginx(text) if self.kind == "nginx" else self._caddy(text)
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder)}
        with (self.folder / "output").open("wb") as output:
            self._process = await asyncio.create_subprocess_exec(
                *command, stdout=output, stderr=output, env=env
            )
        async with asyncio.timeout(PATIENCE_S):
            while not await _accepts(self.port):
                assert self._process.returncode is None, (self.folder / "output").read_text()
                await asyncio.sleep(0.02)

    async def stop(self) -> None:
        """End the proxy, as when its machine is shut down."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        async with asyncio.timeout(PATIENCE_S):
            await process.wait()

    def _recipe(self, upstream: int) -> str:
        text = recipe(self.kind, PATHS.index(self.path))
        address = f"https://{self.name}:{self.port}" if self.kind == "caddy" else self.name
        replaced = (
            ("agents.example.org", address),
            ("listen 443 ssl", f"listen 127.0.0.1:{self.port} ssl"),
            ("/etc/ssl/agents.pem", str(PEM)),
            ("/etc/ssl/agents.key", str(PEM)),
            ("127.0.0.1:8787", f"127.0.0.1:{upstream}"),
        )
        for old, new in replaced:
            if old != "listen 443 ssl" or self.kind == "nginx":
                assert old in text, f"the recipe has no {old!r}"
            text = text.replace(old, new)
        for part in self.without:
            assert part in text, f"the recipe has no {part!r}"
            text = text.replace(part, "")
        return text

    def _nginx(self, text: str) -> list[str]:
        (self.folder / "site.conf").write_text(text)
        user = "user root;" if os.geteuid() == 0 else ""
        whole = _NGINX.format(folder=self.folder, user=user, extra=self.extra)
        (self.folder / "nginx.conf").write_text(whole)
        return [find("nginx"), "-p", str(self.folder), "-c", str(self.folder / "nginx.conf")]

    def _caddy(self, text: str) -> list[str]:
        file = self.folder / "Caddyfile"
        # Its own certificates and its administration port are no part of the recipe.
        file.write_text(
            "{\n    admin off\n    auto_https off\n    default_bind 127.0.0.1\n}\n" + text
        )
        return [find("caddy"), "run", "--config", str(file), "--adapter", "caddyfile"]


@asynccontextmanager
async def real_proxy(
    kind: str,
    path: str,
    folder: Path,
    *,
    name: str = NAME,
    extra: str = "",
    without: tuple[str, ...] = (),
) -> AsyncIterator[RealProxy]:
    """A proxy of this kind, which is ended at the end of the block."""
    own = folder / f"{kind}-proxy"
    own.mkdir()
    proxy = RealProxy(kind, path, own, name, _free_port(), extra, without)
    try:
        yield proxy
    finally:
        await proxy.stop()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def _accepts(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.transport.abort()
    return True
