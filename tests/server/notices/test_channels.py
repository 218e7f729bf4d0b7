"""Notices from a running session to channels: web hooks, ntfy and e-mail, through Apprise."""

from __future__ import annotations

import asyncio
import io
import logging
import stat
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from fairlead.server.notices.channels.sender import ChannelSender
from fairlead.server.notices.channels.text import message_of
from fairlead.server.notices.outcome import Failed, Sent, TryLater
from fairlead.server.notices.rules.notice import Notice
from fairlead.server.notices.rules.quiet import Quiet
from fairlead.server.notices.targets import ChannelTarget, TargetSettings
from fairlead.server.service import Address
from tests.server.conftest import Served, serving
from tests.server.notices.conftest import AT_ONCE, Phone, found
from tests.server.notices.push_service import PushService
from tests.server.notices.receivers import HttpReceiver, SmtpReceiver
from tests.waiting import until

ASK = {"ask": {"id": "ask", "tool": "Bash", "input": {"command": "make <b>deploy</b>"}}}
WAIT = {"wait": 1}
SECRET = "s3cr3t-of-the-channel"


@pytest.fixture
async def receiver() -> AsyncIterator[HttpReceiver]:
    async with HttpReceiver() as service:
        yield service


@pytest.fixture
def log_lines() -> Iterator[io.StringIO]:
    """Everything that a server which logs at the lowest level would write."""
    root, lines = logging.getLogger(), io.StringIO()
    handler, level = logging.StreamHandler(lines), root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield lines
    root.setLevel(level)
    root.removeHandler(handler)


def hook(receiver: HttpReceiver) -> str:
    return f"json://user:{SECRET}@{receiver.authority}/{SECRET}"


async def add(phone: Phone, url: str, **more: Any) -> dict[str, Any]:
    """Add a channel; returns it as clients see it."""
    status, answer = await phone.call("/api/channels", {"url": url, **more})
    assert status == 200, answer
    return dict(answer["channels"][-1])


async def channel_with(phone: Phone, field: str) -> dict[str, Any] | None:
    """The only channel, once it has a value in a field."""
    (row,) = (await phone.call("/api/channels"))[1]["channels"]
    return dict(row) if row[field] else None


def target(url: str, **settings: Any) -> ChannelTarget:
    return ChannelTarget(
        id="a", name="a", service="JSON", url=url, settings=TargetSettings(**settings)
    )


def approval(**more: Any) -> Notice:
    fields = {"kind": "approval", "key": "k", "at": 1.0, "title": "A title", "tool": "Bash"}
    return Notice(**{**fields, **more})


async def test_B125_a_request_and_the_end_of_a_turn_reach_a_web_hook_with_a_link(
    phone: Phone, house: Served, receiver: HttpReceiver
) -> None:
    await add(phone, hook(receiver))
    session = await phone.client.new_session([ASK, WAIT, {"say": "done"}])
    asked = await receiver.message()
    assert asked.path == f"/{SECRET}"
    link = f"{house.base}/s/{session}"
    assert asked.body["message"] == f"Needs your approval.\n{link}"
    assert (asked.body["session"], asked.body["url"]) == (session, link)
    row = await phone.client.pending(session)
    answer = {"request_id": row["id"], "input_sha256": row["input_sha256"], "decision": "allow"}
    assert (await phone.client.intend("decide", session=session, **answer))["ok"]
    done = await receiver.message(2)
    assert done.body["message"].startswith("Finished.\n")
    assert int(done.body["notice"]) > int(asked.body["notice"])


async def test_B125_ntfy_gets_its_topic_and_a_link_to_click(
    phone: Phone, house: Served, receiver: HttpReceiver
) -> None:
    channel = await add(phone, f"ntfy://u:{SECRET}@{receiver.authority}/my-topic", name="Phone")
    assert (channel["service"], channel["address"]) == ("ntfy", "ntfy://…")
    session = await phone.client.new_session([ASK, WAIT])
    got = await receiver.message()
    link = f"{house.base}/s/{session}"
    assert got.headers["x-click"] == link
    assert got.body["topic"] == "my-topic"
    assert got.body["message"] == f"Needs your approval.\n{link}"
    assert "x-icon" not in got.headers  # It would be loaded from another server.


async def test_B125_a_mailbox_gets_a_mail(phone: Phone, house: Served) -> None:
    async with SmtpReceiver() as smtp:
        address = f"mailto://127.0.0.1:{smtp.port}?mode=insecure&from=a@example.org"
        await add(phone, f"{address}&to=me@example.org", settings={"detail": "command"})
        session = await phone.client.new_session([ASK, WAIT])
        recipient, mail = await smtp.message()
    assert recipient == "me@example.org"
    body = mail.get_body(preferencelist=("html",))
    text = body.get_content() if body is not None else str(mail.get_content())
    assert f"{house.base}/s/{session}" in text
    assert "<b>" not in text  # A command is text, not markup.
    assert "deploy" in text


async def test_B125_the_link_leads_to_the_public_address(
    tmp_path: Path, receiver: HttpReceiver, push: PushService
) -> None:
    address = Address(public_url="https://agents.example.org/fairlead")
    async with serving(tmp_path, AT_ONCE, address=address) as served:
        served.base = f"http://127.0.0.1:{served.service.port}"
        phone = Phone(served, push, await served.client())
        channel = await add(phone, hook(receiver))
        status, answer = await phone.call("/api/channels/test", {"id": channel["id"]})
        assert (status, answer) == (200, {"sent": True})
        message = (await receiver.message()).body["message"]
        assert message == "This channel works.\nhttps://agents.example.org/fairlead/"


async def test_B125_a_channel_gets_its_kinds_and_no_more_of_a_command_than_allowed(
    phone: Phone, receiver: HttpReceiver
) -> None:
    channel = await add(phone, hook(receiver), settings={"kinds": ["approval"]})
    for number, (detail, text) in enumerate(
        (
            ("kind", "Needs your approval."),
            ("tool", "Needs your approval: Bash."),
            ("command", "Needs your approval: Bash: make"),
        )
    ):
        settings = {"kinds": ["approval"], "detail": detail}
        change = {"id": channel["id"], "settings": settings}
        assert (await phone.call("/api/channels/change", change))[0] == 200
        await phone.client.new_session([{"say": "done"}])  # It finishes, which is turned off.
        await phone.client.new_session([ASK, WAIT])
        got = await receiver.message(number + 1)
        assert got.body["message"].startswith(text)
        assert ("deploy" in got.body["message"]) == (detail == "command")
    assert len(receiver.received) == 3


async def test_B125_in_its_quiet_hours_a_channel_gets_nothing(
    phone: Phone, house: Served, receiver: HttpReceiver
) -> None:
    minute = int(time.time() // 60)
    quiet = {"start": (minute - 60) % 1440, "end": (minute + 600) % 1440, "zone": "UTC"}
    await add(phone, hook(receiver), settings={"quiet": quiet})
    await phone.client.new_session([ASK, WAIT])
    store = house.service.store
    due = "SELECT min(due) FROM deliveries WHERE target LIKE 'channel:%'"

    async def next_due() -> Any:
        return (await store.query(lambda db: db.execute(due).fetchone()))[0]

    assert await found(next_due) > time.time() + 8 * 3_600
    assert receiver.received == []


async def test_B126_an_address_is_never_shown_or_logged_again(
    phone: Phone, house: Served, receiver: HttpReceiver, log_lines: io.StringIO
) -> None:
    channel = await add(phone, hook(receiver), name="Hook")
    assert (channel["name"], channel["address"]) == ("Hook", "json://…")
    receiver.answer = lambda: "403 Forbidden"
    status, answer = await phone.call("/api/channels/test", {"id": channel["id"]})
    assert (status, "status 403" in answer["message"]) == (503, True)
    session = await phone.client.new_session([ASK, WAIT])
    await receiver.message(2)
    await until(lambda: "a notice was not sent" in log_lines.getvalue(), 60)
    row = house.service.notices.targets.get(f"channel:{channel['id']}")
    assert SECRET in getattr(row, "url", "")
    assert "a notice was not sent: JSON answered with status 403." in log_lines.getvalue()
    log = await phone.call(f"/api/sessions/{session}/log")
    listed = await phone.call("/api/channels")
    audit = await house.service.store.audit(session)
    for shown in (log_lines.getvalue(), repr(row), str(answer), str(listed), str(log), str(audit)):
        assert SECRET not in shown
    database = house.service.store.folder / "fairlead.db"
    files = [path for path in database.parent.iterdir() if SECRET.encode() in _bytes(path)]
    assert files
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in files)


async def test_B126_only_owners_manage_channels(
    house: Served, push: PushService, receiver: HttpReceiver
) -> None:
    for role in ("viewer", "approver", "operator"):
        other = Phone(house, push, await house.client(role))
        calls = (
            ("/api/channels", None),
            ("/api/channels", {"url": hook(receiver)}),
            *((f"/api/channels/{verb}", {"id": "x"}) for verb in ("change", "remove", "test")),
        )
        for path, body in calls:
            assert (await other.call(path, body))[0] == 403
    assert receiver.received == []


@pytest.mark.parametrize(
    "url",
    [
        "syslog://", "dbus://", "kde://", "qt://", "glib://", "gnome://", "macosx://", "windows://",
        "blink1://", "file:///etc/passwd", "exec://rm", "notify://", "foobar://x", "not an address",
        "", "fcm://project@key/device?keyfile=/etc/passwd",
        "slack://TokenA/TokenB/TokenC/?template=/etc/passwd",
        "https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ?template=x",
        "mailto://u:p@example.org?pgppub=/etc/passwd", "json://x/\r\nHost: evil",
        "json://" + "a" * 3000,
    ],
    ids=lambda text: repr(text[:30]),
)  # fmt: skip
async def test_B127_an_address_that_acts_on_the_server_is_refused(phone: Phone, url: str) -> None:
    status, answer = await phone.call("/api/channels", {"url": url})
    assert (status, answer["code"]) == (400, "bad_message")
    assert "/etc/passwd" not in answer["message"]
    assert (await phone.call("/api/channels"))[1]["channels"] == []


async def test_B128_a_failing_channel_is_tried_again_later_and_says_so(
    phone: Phone, receiver: HttpReceiver
) -> None:
    receiver.answer = lambda: "503 Busy"
    channel = await add(phone, hook(receiver))
    await phone.client.new_session([ASK, WAIT])
    await receiver.message()
    row = await found(lambda: channel_with(phone, "retry_at"))
    assert row["problem"] == "JSON answered with status 503."
    assert row["retry_at"] > 0
    assert len(receiver.received) == 1
    receiver.answer = lambda: "200 OK"
    assert (await phone.call("/api/channels/remove", {"id": channel["id"]}))[1]["channels"] == []
    assert (await phone.call("/api/channels/test", {"id": channel["id"]}))[0] == 404


async def test_B128_a_notice_that_a_service_refuses_is_dropped_and_reported(
    phone: Phone, receiver: HttpReceiver
) -> None:
    receiver.answer = lambda: "401 Unauthorized"
    await add(phone, hook(receiver))
    await phone.client.new_session([ASK, WAIT])
    await receiver.message()
    row = await found(lambda: channel_with(phone, "problem"))
    assert (row["problem"], row["retry_at"]) == ("JSON answered with status 401.", None)
    # A new address is a new attempt.
    receiver.answer = lambda: "200 OK"
    change = {"id": row["id"], "url": hook(receiver)}
    assert (await phone.call("/api/channels/change", change))[1]["channels"][0]["problem"] == ""
    assert (await phone.call("/api/channels/test", {"id": row["id"]}))[0] == 200


@pytest.mark.parametrize(
    ("scheme", "field"), [("hassio", "notification_id"), ("bark", "id")], ids=["hassio", "bark"]
)
async def test_B128_a_service_that_can_replaces_the_last_message_of_a_session(
    receiver: HttpReceiver, scheme: str, field: str
) -> None:
    sender = ChannelSender("http://localhost")
    channel = target(f"{scheme}://{receiver.authority}/token")
    for number in (1, 2):
        assert await sender.send(channel, "s1", number, approval(), 1.0) == Sent()
    assert await sender.send(channel, "s2", 3, approval(), 1.0) == Sent()
    first, second, other = (got.body[field] for got in receiver.received)
    assert first == second
    assert other != first


async def test_B129_a_service_that_does_not_answer_holds_nothing_up(
    receiver: HttpReceiver,
) -> None:
    quick, patient = ChannelSender("", timeout_s=0.5), ChannelSender("")
    assert await patient.send(target(hook(receiver)), "s", 1, approval(), 1.0) == Sent()  # Loaded.
    receiver.gate = asyncio.Event()
    stuck = target(hook(receiver) + "?rto=30")
    outcome = await quick.send(stuck, "s", 2, approval(), 1.0)
    assert outcome == TryLater("JSON did not answer within 0 s.")
    # While its call still runs, the channel gets no other one.
    assert isinstance(await quick.send(stuck, "s", 3, approval(), 1.0), TryLater)
    assert len(receiver.received) == 2
    receiver.gate.set()
    receiver.gate = None

    async def is_sent() -> bool:
        return await quick.send(stuck, "s", 4, approval(), 1.0) == Sent()

    assert await found(is_sent)


async def test_B129_a_service_that_cannot_be_reached_is_tried_later() -> None:
    async with HttpReceiver() as gone:
        url = hook(gone)
    outcome = await ChannelSender("").send(target(url), "s", 1, approval(), 1.0)
    assert outcome == TryLater("JSON cannot be reached.")
    damaged = await ChannelSender("").send(target("syslog://"), "s", 1, approval(), 1.0)
    assert isinstance(damaged, Failed)


async def test_without_apprise_the_answer_says_how_to_install_it(
    phone: Phone, receiver: HttpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)  # As if it was not installed.
    listed = (await phone.call("/api/channels"))[1]
    assert (listed["installed"], listed["install"]) == (False, "pip install 'fairlead[channels]'")
    status, answer = await phone.call("/api/channels", {"url": hook(receiver)})
    assert status == 503
    assert "pip install 'fairlead[channels]'" in answer["message"]


@pytest.mark.parametrize(
    "text",
    [
        *("@everyone look", "<!channel> look", "<@U123> look", "<!here|x>", "<b>bold</b>"),
        *("[safe](https://evil.example)", "<https://evil.example|safe>", "[safe][1]"),
    ],
)
def test_B125_text_of_a_model_mentions_no_user_and_hides_no_link(text: str) -> None:
    title, body = message_of(approval(title=text, subject=text), "command", "https://x/s/1")
    for shown in (title, body.partition("\n")[0]):
        assert text not in shown
        assert shown.replace("\u2060", "").endswith((text, f"{text}."))
        for meaning in ("@everyone", "<!", "<@", "<b", "](", "][", "<http", "://"):
            assert meaning not in shown
    assert body.endswith("\nhttps://x/s/1")  # The server's own link works.


async def test_an_address_with_optional_reports_its_failure(receiver: HttpReceiver) -> None:
    """Apprise counts every result of such an address as a success."""
    receiver.answer = lambda: "503 Busy"
    channel = target(hook(receiver) + "?optional=yes")
    outcome = await ChannelSender("").send(channel, "s", 1, approval(), 1.0)
    assert outcome == TryLater("JSON answered with status 503.")


async def test_a_limit_says_when_it_resets(receiver: HttpReceiver) -> None:
    channel = target(hook(receiver), quiet=Quiet(start=0, end=0, zone="Europe/Berlin"))
    notice = Notice(kind="limit", key="k", at=1.0, title="t", resets_at=1_900_000_000)
    assert await ChannelSender("http://x").send(channel, "s", 1, notice, 1.0) == Sent()
    message = receiver.received[0].body["message"]
    assert message.startswith("Usage limit reached. It resets on Sun 17 Mar at 18:46 CET.")


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""
