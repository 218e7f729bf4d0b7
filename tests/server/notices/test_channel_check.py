"""`fairlead doctor` on channels: none, good ones, a failing one, and no Apprise."""

from __future__ import annotations

from pathlib import Path

import msgspec

from fairlead.server.notices.channel_check import check_channels
from fairlead.server.notices.targets import ChannelTarget
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables import notices as table

SECRET = "json://user:s3cr3t@example.org"


async def test_the_channels_are_checked_without_their_addresses(tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert [good for good, _ in check_channels(data)] == [True]
    assert not data.exists()
    row = msgspec.json.encode(ChannelTarget(id="a", name="Team", service="JSON", url=SECRET))
    async with SqliteStore(data) as store:
        assert "none" in check_channels(data)[0][1]
        await store.apply(lambda db: table.put_target(db, "push:a", b"{}"))
        await store.apply(lambda db: table.put_target(db, "channel:a", row))
        assert check_channels(data) == [(True, "channels: 1")]
        ((good, text),) = check_channels(data, installed=False)
        assert not good
        assert "pip install 'fairlead[channels]'" in text
        await store.apply(lambda db: table.finish(db, 1, "channel:a", None, "JSON is down."))
        (good, text) = check_channels(data)[-1]
        assert not good
        assert "Team (JSON)" in text
        assert "JSON is down." in text
        assert "s3cr3t" not in str(check_channels(data))
