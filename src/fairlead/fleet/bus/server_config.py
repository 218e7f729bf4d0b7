"""The configuration file of a nats-server, as text."""

from __future__ import annotations

import json
from pathlib import Path

from msgspec import Struct

from fairlead.fleet.protocol.permissions import Member, render_accounts

__all__ = ["KEY_VARIABLE", "ClusterSettings", "Members", "ServerSettings", "render"]

KEY_VARIABLE = "FAIRLEAD_BUS_KEY"
"""The variable of the server's environment with the key that encrypts its files."""

MAX_PAYLOAD = 1024 * 1024
MAX_PENDING = 16 * 1024 * 1024
"""What the server holds for a machine that does not read; then it disconnects the machine."""


class Members(Struct, frozen=True, kw_only=True):
    """Everyone who may connect."""

    admin: str
    """The public key for creating buckets and streams."""
    gateways: tuple[Member, ...] = ()
    nodes: tuple[Member, ...] = ()


class ClusterSettings(Struct, frozen=True, kw_only=True):
    """One of several servers that form a cluster."""

    name: str
    port: int
    routes: tuple[str, ...]
    """The cluster addresses of all servers, `host:port`."""


class ServerSettings(Struct, frozen=True, kw_only=True):
    """Where a server listens, and what it stores."""

    host: str
    port: int
    certificate: Path
    key: Path
    store: Path
    name: str = "fairlead"
    websocket_port: int | None = None
    """Accepts `wss` here, for networks that allow only that."""
    log: Path | None = None
    max_store_bytes: int = 8 * 1024**3
    cluster: ClusterSettings | None = None
    sync_always: bool = True


def render(settings: ServerSettings, members: Members) -> str:
    """The file. Texts are written as JSON, which the server's parser accepts."""
    tls = (
        f"cert_file: {_text(settings.certificate)}, key_file: {_text(settings.key)}, "
        'timeout: 5, min_version: "1.2"'
    )
    lines = [
        f"server_name: {_text(settings.name)}",
        f"host: {_text(settings.host)}",
        f"port: {settings.port}",
        # TLS before any other byte: a client that waits for the server's word on whether to use
        # TLS can be told not to.
        f"tls {{ {tls}, handshake_first: true }}",
        f"max_payload: {MAX_PAYLOAD}",
        f"max_pending: {MAX_PENDING}",
        'write_deadline: "5s"',
        'ping_interval: "10s"',
        "ping_max: 2",
        "jetstream {",
        f"  store_dir: {_text(settings.store)}",
        "  cipher: chachapoly",
        f"  key: ${KEY_VARIABLE}",
        "  sync_interval: always" if settings.sync_always else '  sync_interval: "2m"',
        f"  max_file_store: {settings.max_store_bytes}",
        "  max_memory_store: 0",
        "}",
    ]
    if settings.websocket_port is not None:
        lines += [
            "websocket {",
            f"  host: {_text(settings.host)}",
            f"  port: {settings.websocket_port}",
            f"  tls {{ {tls} }}",
            "}",
        ]
    if settings.log is not None:
        lines += [f"log_file: {_text(settings.log)}", "log_size_limit: 4194304", "log_max_num: 2"]
    if settings.cluster is not None:
        routes = ", ".join(_text(f"nats://{route}") for route in settings.cluster.routes)
        lines += [
            f"cluster {{ name: {_text(settings.cluster.name)}, listen: "
            f"{_text(f'{settings.host}:{settings.cluster.port}')}, routes: [{routes}], "
            "no_advertise: true }",
        ]
    accounts = render_accounts(members.admin, members.gateways, members.nodes)
    return "\n".join([*lines, accounts])


def _text(value: object) -> str:
    return json.dumps(str(value))
