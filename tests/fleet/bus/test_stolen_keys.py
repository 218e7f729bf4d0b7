"""An attacker with the key of one machine cannot read or speak for another (docs/security.md)."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from fairlead.fleet.bus import server_config
from fairlead.fleet.protocol.permissions import Member, gateway_lists, node_lists
from tests.fleet.bus.attacks import Attack, Thief, Watch, outcome, overheard, try_all
from tests.fleet.bus.nats_harness import NatsHarness, running_bus

API = "$JS.API."


@pytest.fixture
async def nats(tmp_path: Path) -> AsyncIterator[NatsHarness]:
    async with running_bus(tmp_path) as nats:
        yield nats


def consumer(deliver: str, stream: str = "log") -> str:
    config = {"name": "evil", "deliver_subject": deliver, "ack_policy": "none"}
    return json.dumps({"stream_name": stream, "config": config})


def node_attacks(me: str, b: str, gateway: str) -> list[Attack]:
    """With the key of node `me`."""
    sent = [
        *("fl.live.{b}.s", "fl.lobby.{b}", "fl.beat.{b}", "fl.log.{b}.s", "fl.audit.{b}"),
        *("$KV.lease.{b}", "$KV.rows.{b}.s", "fl.do.{b}", "fl.ask.{b}.open", "fl.ask.{b}.http"),
        *("fl.cut.device", "fl.here.{g}", "fl.kv.people.device", "fl.kv.lease.{b}"),
        *("$KV.people.device", "$KV.access.code", "$KV.nodes.{b}", "$KV.owners.s"),
        *("$KV.clients.c", "fl.audit.{g}", "_INBOX.{g}.x", "_INBOX.{b}.x", "_R_.x.y"),
        *("$KV.lease.{me}.more", "$KV.rows.{me}", "fl.log.{me}", "$SYS.REQ.SERVER.PING"),
    ]
    return [
        *(Attack(f"publish {subject}", _in(subject, me, b, gateway)) for subject in sent),
        *_api_attacks(me, b),
        *_read_attacks(me, b),
        *_reply_attacks(me, b, gateway),
        Attack("acknowledge", "$JS.ACK.log.archive.1.1.1.1700000000.0", "+TERM"),
        Attack("flow control", "$JS.FC.log.archive.x"),
    ]


def _api_attacks(me: str, b: str) -> list[Attack]:
    evil = {"name": "evil", "subjects": ["evil.>"]}
    calls = {
        "STREAM.CREATE.evil": json.dumps(evil),
        "STREAM.CREATE.evil2": json.dumps(
            {**evil, "name": "evil2", "republish": {"src": "evil.>", "dest": f"fl.do.{b}"}}
        ),
        "STREAM.CREATE.evil3": json.dumps({"name": "evil3", "sources": [{"name": "log"}]}),
        "STREAM.UPDATE.log": json.dumps({"name": "log", "subjects": ["fl.log.>"], "max_msgs": 1}),
        "STREAM.DELETE.log": "",
        "STREAM.PURGE.log": "",
        "STREAM.PURGE.KV_people": "",
        "STREAM.MSG.DELETE.log": '{"seq": 1}',
        "STREAM.MSG.GET.log": '{"seq": 1}',
        "STREAM.NAMES": "",
        "STREAM.LIST": "",
        "STREAM.INFO.log": "",
        "STREAM.SNAPSHOT.log": json.dumps({"deliver_subject": f"_INBOX.{me}.loot"}),
        "STREAM.RESTORE.evil": json.dumps({"config": evil, "state": {}}),
        "STREAM.LEADER.STEPDOWN.log": "",
        "CONSUMER.CREATE.log.evil": consumer(f"fl.do.{b}"),
        "CONSUMER.CREATE.KV_lease.evil": consumer(f"fl.do.{b}", "KV_lease"),
        "CONSUMER.CREATE.log": consumer(f"_INBOX.{me}.loot"),
        "CONSUMER.DURABLE.CREATE.log.evil": consumer(f"fl.live.{b}.s"),
        "CONSUMER.MSG.NEXT.log.archive": '{"batch": 10}',
        "CONSUMER.DELETE.log.archive": "",
        "CONSUMER.NAMES.log": "",
        "META.LEADER.STEPDOWN": "",
        "ACCOUNT.PURGE.STORE": "",
        "INFO": "",
    }
    return [Attack(f"call {call}", API + call, payload) for call, payload in calls.items()]


def _read_attacks(me: str, b: str) -> list[Attack]:
    reads = {
        "DIRECT.GET.log": '{"seq": 1}',
        "DIRECT.GET.log ": json.dumps({"last_by_subj": f"fl.log.{b}.s"}),
        "DIRECT.GET.log  ": '{"seq": 1, "next_by_subj": ">", "batch": 10}',
        f"DIRECT.GET.log.fl.log.{b}.s": "",
        f"DIRECT.GET.log.fl.log.{me}.x": json.dumps({"last_by_subj": f"fl.log.{b}.s"}),
        f"DIRECT.GET.KV_lease.$KV.lease.{b}": "",
        f"DIRECT.GET.KV_rows.$KV.rows.{b}.s": "",
        "DIRECT.GET.KV_access": '{"multi_last": [">"]}',
        "DIRECT.GET.KV_access.$KV.access.code": "",
        "DIRECT.GET.KV_lease": '{"multi_last": [">"]}',
        "DIRECT.GET.KV_rows": '{"multi_last": [">"]}',
        "DIRECT.GET.audit": '{"seq": 1}',
    }
    return [Attack(f"read {call}", API + call.strip(), body) for call, body in reads.items()]


def _reply_attacks(me: str, b: str, gateway: str) -> list[Attack]:
    """The server is asked to send the thief's own record, or its receipt, somewhere else."""
    targets = {
        f"fl.do.{b}": "MARK",
        f"fl.ask.{b}.open": "MARK",
        f"fl.live.{b}.s": "MARK",
        f"fl.beat.{b}": "MARK",
        "fl.cut.device": "MARK",
        "fl.kv.people.device": "MARK",
        "$KV.people.device": "MARK",
        "$KV.access.code": "MARK",
        f"$KV.lease.{b}": "MARK",
        f"fl.log.{b}.s": "MARK",
        f"_INBOX.{gateway}.x": "MARK",
        API + "STREAM.CREATE.evil": json.dumps({"name": "evil", "subjects": ["evil.>"]}),
        API + "STREAM.DELETE.log": "",
        API + "STREAM.PURGE.log": "",
        API + "STREAM.PURGE.KV_people": "{}",
        API + "CONSUMER.CREATE.log.evil": consumer(f"fl.do.{b}"),
    }
    own = f"fl.log.{me}.x"
    forged = {"Nats-Stream": "KV_people", "Nats-Subject": "$KV.people.device"}
    read = API + f"DIRECT.GET.log.{own}"
    lease = API + f"DIRECT.GET.KV_lease.$KV.lease.{me}"
    return [
        *(
            Attack(f"answer to {target}", read, "", target, None, (own, payload))
            for target, payload in targets.items()
        ),
        *(
            Attack(f"receipt to {target}", own, payload, target)
            for target, payload in targets.items()
        ),
        *(
            Attack(f"lease to {target}", lease, "", target, None, (f"$KV.lease.{me}", payload))
            for target, payload in targets.items()
            if "fl.do" in target or "STREAM.DELETE" in target
        ),
        *(
            Attack(f"forged headers to {target}", read, "", target, None, (own, "MARK"), forged)
            for target in ("fl.kv.people.device", f"fl.do.{b}", f"fl.live.{b}.s")
        ),
    ]


def _in(subject: str, me: str, b: str, gateway: str) -> str:
    return subject.replace("{me}", me).replace("{b}", b).replace("{g}", gateway)


def report(capsys: pytest.CaptureFixture[str], whose: str, achieved: dict[str, str]) -> None:
    with capsys.disabled():
        succeeded = sum(map(bool, achieved.values()))
        sys.stdout.write(f"\nstolen {whose} key: {len(achieved)} attacks, {succeeded} succeeded\n")


def snooping(victim: str, gateway: str) -> list[str]:
    return [
        *(">", "*.>", "fl.>", "fl.*.>", "fl.live.>", "fl.live.*.*", f"fl.live.{victim}.s"),
        *("fl.beat.*", "fl.lobby.*", "fl.do.*", f"fl.do.{victim}", "fl.ask.*.*", "fl.log.>"),
        *("fl.audit.>", "fl.kv.>", "fl.kv.access.>", "fl.kv.rows.>", "$KV.>", "$JS.>", "$SYS.>"),
        *("_INBOX.>", "_INBOX.*.*.*", f"_INBOX.{gateway}.>", f"_INBOX.{victim}.>", "_R_.>"),
    ]


async def test_N14_every_attack_with_a_stolen_node_key_is_refused(
    nats: NatsHarness, capsys: pytest.CaptureFixture[str]
) -> None:
    stolen, victim = nats.nodes
    watch, thief = Watch(nats, victim, stolen), Thief(nats, stolen)
    await watch.start()
    await thief.connect()
    await watch.honest_work()
    attacks = node_attacks(stolen.id, victim.id, nats.gateways[0].id)
    achieved = await try_all(attacks, thief, watch)
    for subject in snooping(victim.id, nats.gateways[0].id):
        achieved[f"listen {subject}"] = await overheard(subject, thief, watch)
    await thief.close()
    report(capsys, "node", achieved)
    assert {name: what for name, what in achieved.items() if what} == {}
    assert len(achieved) >= 100
    await watch.honest_work()


@pytest.mark.parametrize("listed", [True, False], ids=["lists of subjects", "no lists"])
async def test_the_attacks_work_on_a_bus_without_accounts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listed: bool
) -> None:
    """The judge sees what succeeds: by another subject for the answer, lists alone are no fence."""

    def one_account(admin: str, gateways: Sequence[Member], nodes: Sequence[Member]) -> str:
        lists = {each.public: gateway_lists(each.id) for each in gateways}
        lists |= {each.public: node_lists(each.id) for each in nodes}
        users = [f"{{nkey: {admin}}}"]
        for public, each in lists.items():
            publish, hear = json.dumps(each.publish), json.dumps(each.subscribe)
            allowed = f"{{publish: {publish}, subscribe: {hear}, allow_responses: true}}"
            users.append(f"{{nkey: {public}" + (f", permissions: {allowed}}}" if listed else "}"))
        return f"accounts {{ STORE {{ jetstream: enabled, users: [{', '.join(users)}] }} }}\n"

    monkeypatch.setattr(server_config, "render_accounts", one_account)
    async with running_bus(tmp_path) as nats:
        stolen, victim = nats.nodes
        watch, thief = Watch(nats, victim, stolen), Thief(nats, stolen)
        await watch.start()
        await thief.connect()
        attacks = node_attacks(stolen.id, victim.id, nats.gateways[0].id)
        expected = [
            "answer to $KV.people.device",
            "answer to $JS.API.STREAM.CREATE.evil",
            "answer to $JS.API.CONSUMER.CREATE.log.evil",
            f"answer to $KV.lease.{victim.id}",
            f"answer to fl.log.{victim.id}.s",
            "answer to $JS.API.STREAM.DELETE.log",
        ]
        if not listed:
            expected[:0] = ["publish fl.do.{b}", "publish fl.live.{b}.s", "read DIRECT.GET.log"]
            expected[:0] = ["call STREAM.NAMES", "call STREAM.CREATE.evil3"]
        tried = {each.name: each for each in attacks}
        succeeded = [name for name in expected if await outcome(tried[name], thief, watch)]
        await thief.close()
    assert succeeded == expected


async def test_N14_every_attack_with_a_stolen_gateway_key_is_refused(
    nats: NatsHarness, capsys: pytest.CaptureFixture[str]
) -> None:
    """A gateway may ask every node anything; it cannot speak for nodes or change the storage."""
    stolen, victim = nats.gateways[0], nats.nodes[1]
    other = nats.gateways[1].id
    watch, thief = Watch(nats, victim, stolen), Thief(nats, stolen)
    await watch.start()
    await thief.connect()
    await watch.honest_work()
    b = victim.id
    sent = [
        *(f"fl.live.{b}.s", f"fl.lobby.{b}", f"fl.beat.{b}", f"fl.log.{b}.s"),
        *(f"$KV.lease.{b}", f"$KV.rows.{b}.s", f"fl.here.{other}"),
        *("fl.kv.people.device", f"_INBOX.{other}.x", "_R_.x.y"),
    ]
    people = API + "DIRECT.GET.KV_clients.$KV.clients.evil"
    first = ("$KV.clients.evil", "MARK")
    attacks = [
        *(Attack(f"publish {subject}", subject) for subject in sent),
        *(each for each in _api_attacks(stolen.id, b)),
        *(
            Attack(f"answer to {target}", people, "", target, None, first, writes="KV_clients")
            for target in (f"fl.live.{b}.s", f"fl.beat.{b}", f"fl.here.{other}", "fl.kv.lease.x")
        ),
        *(
            Attack(
                f"answer to {API}{call}",
                people,
                "",
                API + call,
                None,
                ("$KV.clients.evil", body),
                writes="KV_clients",
            )
            for call, body in (
                ("STREAM.DELETE.log", ""),
                ("STREAM.CREATE.evil", '{"name": "evil"}'),
            )
        ),
    ]
    achieved = await try_all(attacks, thief, watch)
    for subject in (f"_INBOX.{other}.>", "_INBOX.>", ">", "_R_.>", "$KV.>", "$JS.>"):
        achieved[f"listen {subject}"] = await overheard(subject, thief, watch)
    await thief.close()
    report(capsys, "gateway", achieved)
    assert {name: what for name, what in achieved.items() if what} == {}
    assert len(achieved) >= 40
    await watch.honest_work()
