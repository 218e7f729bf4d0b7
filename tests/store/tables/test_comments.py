"""Review comments in the store."""

from __future__ import annotations

from pathlib import Path

from msgspec import structs

from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables.comments import Comment, SentFile

COMMENT = Comment(
    session="s", id="c1", version=1, device="d", author="Phone", file="Zg", path="f", side="new",
    start=1, end=2, code="a\nb", text="why?", created=1.0, edited=1.0,
)  # fmt: skip


async def test_S45_comments_are_stored_by_session_in_the_order_they_were_written(
    tmp_path: Path,
) -> None:
    async with SqliteStore(tmp_path) as store:
        later = structs.replace(COMMENT, id="a", created=2.0)
        other = structs.replace(COMMENT, session="other")
        await store.put_comments([later, COMMENT, other])
        await store.put_comments([structs.replace(COMMENT, version=2, text="why not?")])
    async with SqliteStore(tmp_path) as store:
        assert [(one.id, one.text) for one in await store.comments("s")] == [
            ("c1", "why not?"),
            ("a", "why?"),
        ]
        assert await store.comment("s", "nothing") is None
        await store.delete_comment("s", "c1")
        assert [one.id for one in await store.comments("s")] == ["a"]
        assert await store.comments("other") == [other]


async def test_S46_the_files_of_a_review_are_stored_until_its_last_comment_is_deleted(
    tmp_path: Path,
) -> None:
    async with SqliteStore(tmp_path) as store:
        sent = [structs.replace(COMMENT, id=name, prompt="p") for name in ("c1", "c2")]
        file = SentFile(session="s", prompt="p", file="Zg", content=b"a\nb\n" * 1000)
        await store.put_comments(sent, [file])
        assert await store.sent_file("s", "p", "Zg") == file.content
        assert await store.sent_file("s", "q", "Zg") is None
        await store.delete_comment("s", "c1")
        assert await store.sent_file("s", "p", "Zg") == file.content
        await store.delete_comment("s", "c2")
        assert await store.sent_file("s", "p", "Zg") is None
