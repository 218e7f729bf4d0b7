"""`fairlead doctor` on push notifications: no key, a good one, a readable one, a damaged one."""

from __future__ import annotations

from pathlib import Path

from fairlead.server.notices.notices import PUSH_KEY
from fairlead.server.notices.push.server_key import PushKey
from fairlead.server.notices.push_check import check_push
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables import notices as table


async def test_the_key_and_the_subscriptions_are_checked(tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert [good for good, _ in check_push(data)] == [True]
    assert not data.exists()
    async with SqliteStore(data) as store:
        PushKey.stored_in(data / PUSH_KEY)
        await store.apply(lambda db: table.put_target(db, "push:a", b"{}"))
        await store.apply(lambda db: table.put_target(db, "channel:a", b"{}"))
        good = check_push(data)
        assert [is_good for is_good, _ in good] == [True, True]
        assert "subscribed devices: 1" in good[1][1]
        await store.apply(lambda db: table.finish(db, 1, "push:a", None, "example.org is down."))
        (is_good, text) = check_push(data)[-1]
        assert not is_good
        assert "example.org is down." in text


def test_a_key_that_others_can_read_or_that_is_damaged_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / PUSH_KEY
    PushKey.stored_in(path)
    path.chmod(0o644)
    assert "chmod 600" in check_push(tmp_path)[0][1]
    path.write_text("nonsense")
    path.chmod(0o600)
    ((is_good, text),) = check_push(tmp_path)
    assert not is_good
    assert "damaged" in text
