"""What each machine may do on a NATS server, as the `accounts` of the server's configuration.

Every node has an account of its own, all gateways share one, and only the account `STORE` has
JetStream. An account sees nothing of another but what is exported to it. Lists of subjects within
one account are not enough: a machine that may read a record that it wrote can name any subject for the
answer, and the server sends the record there, also to `$JS.API.STREAM.DELETE.…` or to the subject
of another machine (docs/decisions/0011). Across accounts an answer arrives in the account of the
machine that asked. The lists of each user are a second fence.

A node reads one key or record at a time, by its subject. Reading several at once takes the subjects
from the body of the request, so it is granted only for buckets that every node may read whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from fairlead.fleet.protocol.subjects import AUDIT_STREAM, BUCKETS, LOG_STREAM, check_token

__all__ = [
    "ADMIN_INBOX",
    "GATEWAY_WRITES",
    "Member",
    "gateway_lists",
    "node_lists",
    "render_accounts",
]

STORE = "STORE"
GATEWAYS = "GATEWAYS"

NODE_READS = ("people", "owners")
"""Buckets that every node may read whole."""

NODE_WRITES = ("lease", "rows")
"""Buckets in which a node writes and reads the keys that begin with its id."""

GATEWAY_WRITES = ("people", "access", "nodes", "owners", "clients", "uploads")
"""Buckets in which gateways write."""

ADMIN_INBOX = "_INBOX.admin"


class Member(Struct, frozen=True):
    """A machine that may connect."""

    id: str
    public: str
    """Its public key."""


class Lists(Struct, frozen=True):
    """The subjects of one user."""

    publish: tuple[str, ...]
    subscribe: tuple[str, ...]


def node_lists(node: str) -> Lists:
    """What a node may send and hear, within its account."""
    return Lists(
        publish=(*_offered_streams(node), *_node_services(node)),
        subscribe=(
            *_offered_services(node),
            *(f"fl.kv.{name}.>" for name in NODE_READS),
            "fl.cut.*",
            f"_INBOX.{node}.>",
        ),
    )


def gateway_lists(gateway: str) -> Lists:
    """What a gateway may send and hear, within the account of all gateways."""
    return Lists(
        publish=(
            *("fl.do.*", "fl.ask.*.*", "fl.cut.*", f"fl.here.{gateway}"),
            *_gateway_services(),
        ),
        subscribe=(
            *("fl.live.*.*", "fl.lobby.*", "fl.beat.*", "fl.here.*", "fl.cut.*", "fl.kv.>"),
            f"_INBOX.{gateway}.>",
        ),
    )


def render_accounts(
    admin: str, gateways: Sequence[Member], nodes: Sequence[Member], system: str = ""
) -> str:
    """The section `accounts` of a server's configuration."""
    for member in (*gateways, *nodes):
        check_token(member.id)
    system_user = f"users: [{{nkey: {system}}}]" if system else ""
    return "\n".join(
        [
            "accounts {",
            f"  SYS {{ {system_user} }}",
            *_store(admin, nodes),
            *_gateways(gateways, nodes),
            *(line for node in nodes for line in _node(node)),
            "}",
            "system_account: SYS",
            "",
        ]
    )


def _store(admin: str, nodes: Sequence[Member]) -> list[str]:
    all_nodes = [_account(node.id) for node in nodes]
    exports = [
        *(_service_export(subject, [GATEWAYS]) for subject in _gateway_services()),
        _stream_export("fl.kv.>", [GATEWAYS]),
    ]
    for node in nodes:
        own = [subject for subject in _node_services(node.id) if subject not in _shared_services()]
        exports += [_service_export(subject, [_account(node.id)]) for subject in own]
    if all_nodes:
        # One export names all that may use a subject, gateways included: a second one for the
        # same subject would replace the first.
        exports = [each for each in exports if not _is_shared(each)]
        exports += [_service_export(each, [GATEWAYS, *all_nodes]) for each in _shared_services()]
        exports += [_stream_export(f"fl.kv.{name}.>", all_nodes) for name in NODE_READS]
    return [
        f"  {STORE} {{",
        "    jetstream: enabled",
        f"    users: [{{nkey: {admin}}}]",
        *_list("exports", exports),
        "  }",
    ]


def _gateways(gateways: Sequence[Member], nodes: Sequence[Member]) -> list[str]:
    imports = [
        *(_service_import(STORE, subject) for subject in _gateway_services()),
        _stream_import(STORE, "fl.kv.>"),
    ]
    for node in nodes:
        account = _account(node.id)
        imports += [_stream_import(account, subject) for subject in _offered_streams(node.id)]
        imports += [_service_import(account, subject) for subject in _offered_services(node.id)]
    exports = [_stream_export("fl.cut.*", [_account(node.id) for node in nodes])] if nodes else []
    return [
        f"  {GATEWAYS} {{",
        *_list("users", [_user(each, gateway_lists(each.id)) for each in gateways]),
        *_list("imports", imports),
        *_list("exports", exports),
        "  }",
    ]


def _node(node: Member) -> list[str]:
    imports = [
        *(_service_import(STORE, subject) for subject in _node_services(node.id)),
        *(_stream_import(STORE, f"fl.kv.{name}.>") for name in NODE_READS),
        _stream_import(GATEWAYS, "fl.cut.*"),
    ]
    exports = [
        *(_stream_export(subject, [GATEWAYS]) for subject in _offered_streams(node.id)),
        *(_service_export(subject, [GATEWAYS]) for subject in _offered_services(node.id)),
    ]
    return [
        f"  {_account(node.id)} {{",
        *_list("users", [_user(node, node_lists(node.id))]),
        *_list("imports", imports),
        *_list("exports", exports),
        "  }",
    ]


def _offered_streams(node: str) -> tuple[str, ...]:
    return (f"fl.live.{node}.*", f"fl.lobby.{node}", f"fl.beat.{node}")


def _offered_services(node: str) -> tuple[str, ...]:
    return (f"fl.do.{node}", f"fl.ask.{node}.*")


def _node_services(node: str) -> tuple[str, ...]:
    """What a node may ask of the store."""
    return (
        f"$KV.lease.{node}",
        f"$KV.rows.{node}.*",
        f"fl.log.{node}.*",
        f"fl.audit.{node}",
        f"$JS.API.DIRECT.GET.KV_lease.$KV.lease.{node}",
        f"$JS.API.DIRECT.GET.KV_rows.$KV.rows.{node}.*",
        f"$JS.API.DIRECT.GET.{LOG_STREAM}.fl.log.{node}.*",
        *_shared_services(),
    )


def _shared_services() -> tuple[str, ...]:
    """What nodes and gateways may ask of the store: to read the buckets of `NODE_READS`."""
    return tuple(
        subject
        for name in NODE_READS
        for subject in (f"$JS.API.DIRECT.GET.KV_{name}", f"$JS.API.DIRECT.GET.KV_{name}.>")
    )


def _gateway_services() -> tuple[str, ...]:
    streams = (*(f"KV_{name}" for name in BUCKETS), LOG_STREAM, AUDIT_STREAM)
    return (
        "fl.audit.*",
        *(f"$KV.{name}.>" for name in GATEWAY_WRITES),
        *(f"$JS.API.DIRECT.GET.{name}" for name in streams),
        *(f"$JS.API.DIRECT.GET.{name}.>" for name in streams),
    )


def _is_shared(export: str) -> bool:
    return any(f'"{subject}"' in export for subject in _shared_services())


def _account(node: str) -> str:
    return f"NODE_{node}"


def _service_export(subject: str, accounts: Iterable[str]) -> str:
    # Reading several records returns several answers.
    many = ", response_type: stream" if subject.startswith("$JS.API.DIRECT.GET.") else ""
    return f'{{service: "{subject}"{many}, accounts: [{", ".join(accounts)}]}}'


def _stream_export(subject: str, accounts: Iterable[str]) -> str:
    return f'{{stream: "{subject}", accounts: [{", ".join(accounts)}]}}'


def _service_import(account: str, subject: str) -> str:
    return f'{{service: {{account: {account}, subject: "{subject}"}}}}'


def _stream_import(account: str, subject: str) -> str:
    return f'{{stream: {{account: {account}, subject: "{subject}"}}}}'


def _user(member: Member, lists: Lists) -> str:
    publish, subscribe = (
        ", ".join(f'"{subject}"' for subject in each) for each in (lists.publish, lists.subscribe)
    )
    # One answer to each request that arrived, within a minute.
    return (
        f"{{nkey: {member.public}, permissions: {{publish: {{allow: [{publish}]}}, "
        f"subscribe: {{allow: [{subscribe}]}}, "
        'allow_responses: {max: 1, expires: "60s"}}}'
    )


def _list(name: str, entries: Sequence[str]) -> list[str]:
    return [f"    {name}: [", *(f"      {entry}" for entry in entries), "    ]"]
