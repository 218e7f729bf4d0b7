"""Review comments: stored on the server, sent as one prompt, followed through changes."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from fairlead.server.limits import Limits
from tests.git.repositories import new_repository
from tests.server.conftest import Served, serving
from tests.server.review.review_client import ReviewClient, review_client

FILES = {"src/app.py": "".join(f"line {n}\n" for n in range(1, 41)), "README.md": "hello\n"}


def prompts(served: Served) -> list[str]:
    """The texts of the prompts that the agent got."""
    texts = []
    for line in (served.project.parent / "agent.log").read_text().splitlines():
        message = json.loads(line)
        if isinstance(message, dict) and message.get("type") == "user":
            content = message["message"]["content"]
            texts.append(content if isinstance(content, str) else content[0]["text"])
    return texts


async def until_prompted(served: Served, words: str) -> str:
    async with asyncio.timeout(30):
        while True:
            for text in prompts(served):
                if words in text:
                    return text
            await asyncio.sleep(0.02)


async def until_lines(reviewer: ReviewClient, wanted: str) -> dict[str, Any]:
    async with asyncio.timeout(30):
        while True:
            (comment,) = await reviewer.comments()
            if comment["lines"] == wanted:
                return comment
            await asyncio.sleep(0.02)


async def test_B71_a_comment_is_stored_for_all_devices_with_its_author(served: Served) -> None:
    new_repository(served.project, FILES)
    reviewer = await review_client(served)
    assert (await reviewer.put("src/app.py", 5, "line 5\nline 6", "Why two?"))["ok"]
    phone = await review_client(served, "owner", reviewer.session)
    (comment,) = await phone.comments()
    assert comment["path"] == "src/app.py"
    assert (comment["start"], comment["end"], comment["code"]) == (5, 6, "line 5\nline 6")
    assert (comment["author"], comment["own"], comment["foreign"]) == ("a test", False, False)
    assert (comment["lines"], comment["now"], comment["prompt"]) == ("same", 5, None)
    edited = await phone.client.intend(
        "put_comment", session=reviewer.session, id=comment["id"], version=1, text="Why two lines?"
    )
    assert edited["result"] == {"version": 2}
    stale = await reviewer.client.intend(
        "put_comment", session=reviewer.session, id=comment["id"], version=1, text="Mine"
    )
    assert stale["code"] == "stale"
    (comment,) = await reviewer.comments()
    assert (comment["text"], comment["own"]) == ("Why two lines?", False)
    gone = await reviewer.client.intend(
        "delete_comment", session=reviewer.session, id=comment["id"], version=2
    )
    assert gone["ok"]
    assert await phone.comments() == []


async def test_B71_comments_survive_the_server(tmp_path: Path) -> None:
    async with serving(tmp_path, Limits()) as served:
        new_repository(served.project, FILES)
        reviewer = await review_client(served)
        await reviewer.put("README.md", 1, "hello", "Say more.")
        session = reviewer.session
    async with serving(tmp_path, Limits()) as served:
        reviewer = await review_client(served, "owner", session)
        assert [one["text"] for one in await reviewer.comments()] == ["Say more."]


async def test_B71_comments_that_make_no_sense_or_lead_outside_are_refused(served: Served) -> None:
    new_repository(served.project, FILES)
    (served.project / "link").symlink_to("/etc/passwd")
    reviewer = await review_client(served)
    for path in ("../other", "/etc/passwd", "src/../../x", "", "a\0b"):
        assert not (await reviewer.put(path, 1, "x", "text"))["ok"], path
    refused: list[dict[str, Any]] = [
        await reviewer.put("README.md", 0, "x", "text"),
        await reviewer.put("README.md", 1, "x", "text", end=3),
        await reviewer.put("README.md", 1, "x", "text", side="both"),
        await reviewer.put("README.md", 1, "x", "text", tree="home"),
        await reviewer.put("README.md", 1, "x", " \n "),
        await reviewer.put("README.md", 1, "x", "t" * 9_000),
        await reviewer.put("README.md", 1, "x" * 17_000, "text"),
        await reviewer.put("README.md", 1, "x", "text", id=""),
    ]
    assert [one["ok"] for one in refused] == [False] * len(refused)
    # A comment on a link is stored, and nothing of what it leads to is read.
    assert (await reviewer.put("link", 1, "root:x:0:0:root:/root:/bin/bash", "text"))["ok"]
    (comment,) = await reviewer.comments()
    assert comment["lines"] == "deleted"


async def test_B72_a_review_is_one_verbatim_prompt_with_path_lines_and_code(served: Served) -> None:
    new_repository(served.project, FILES)
    reviewer = await review_client(served)
    await reviewer.put("src/app.py", 3, "line 3", "/clear @README.md is text here.")
    await reviewer.put("src/app.py", 7, "```\nline 8", "A fence.", side="old")
    await reviewer.put("README.md", 1, "hello", "Third.")
    comments = await reviewer.comments()
    result = await reviewer.send(*comments, text="Please fix:")
    assert result["ok"], result
    text = await until_prompted(served, "Code review")
    assert text == (
        "Code review: 3 comments in 2 files.\n\nPlease fix:\n\n"
        "## src/app.py\n\n"
        "### Comment 1: Line 3\n\n```\nline 3\n```\n\n/clear @README.md is text here.\n\n"
        "### Comment 2: Lines 7 to 8 of the version before the change\n\n"
        "````\n```\nline 8\n````\n\nA fence.\n\n"
        "## README.md\n\n### Comment 3: Line 1\n\n```\nhello\n```\n\nThird.\n"
    )
    assert {one["prompt"] for one in await reviewer.comments()} == {result["uuid"]}
    again = await reviewer.send(*comments)
    assert again["code"] == "stale"
    changed = await reviewer.client.intend(
        "put_comment", session=reviewer.session, id=comments[0]["id"], version=1, text="Late"
    )
    assert changed["code"] == "stale"


async def test_B72_two_devices_that_send_the_same_comments_send_them_once(served: Served) -> None:
    new_repository(served.project, FILES)
    reviewer = await review_client(served)
    phone = await review_client(served, "owner", reviewer.session)
    for number in range(1, 4):
        await reviewer.put("src/app.py", number, f"line {number}", f"Comment {number}.")
    comments = await reviewer.comments()
    results = await asyncio.gather(reviewer.send(*comments), phone.send(*comments))
    assert sorted(one["ok"] for one in results) == [False, True]


async def test_B72_a_review_that_was_removed_from_the_queue_is_a_draft_again(
    served: Served,
) -> None:
    new_repository(served.project, FILES)
    client = await served.client()
    session = await client.new_session([{"wait": "go"}])
    reviewer = ReviewClient(served, client, session)
    await reviewer.put("README.md", 1, "hello", "Say more.")
    result = await reviewer.send(*await reviewer.comments())
    assert result["ok"], result
    assert (await reviewer.comments())[0]["prompt"] == result["uuid"]
    cancelled = await client.intend("cancel_prompt", session=session, uuid=result["uuid"])
    assert cancelled["ok"], cancelled
    assert (await reviewer.comments())[0]["prompt"] is None
    assert (await reviewer.send(*await reviewer.comments()))["ok"]


async def test_B73_a_comment_says_whether_its_lines_changed_after_the_review(
    served: Served,
) -> None:
    new_repository(served.project, FILES)
    reviewer = await review_client(served)
    await reviewer.put("src/app.py", 10, "line 10", "Rename it.")
    assert (await reviewer.send(*await reviewer.comments()))["ok"]
    app = served.project / "src" / "app.py"
    comment = await until_lines(reviewer, "same")
    app.write_text("# new\n" + app.read_text())
    (comment,) = await reviewer.comments()
    assert (comment["lines"], comment["now"]) == ("same", 11)
    # The same words elsewhere do not count as the commented line.
    app.write_text(app.read_text().replace("line 10\n", "line ten\n") + "line 10\n")
    (comment,) = await reviewer.comments()
    assert (comment["lines"], comment["now"]) == ("changed", None)
    app.unlink()
    assert (await reviewer.comments())[0]["lines"] == "deleted"
    resolved = await reviewer.client.intend(
        "resolve_comment", session=reviewer.session, id=comment["id"], resolved=True
    )
    assert resolved["ok"]
    assert (await reviewer.comments())[0]["resolved"] is True


async def test_B74_what_a_lower_role_wrote_is_sent_only_after_it_was_taken_over(
    served: Served,
) -> None:
    new_repository(served.project, FILES)
    owner = await review_client(served)
    operator = await review_client(served, "operator", owner.session)
    await operator.put("README.md", 1, "hello", "From below.")
    (comment,) = await owner.comments()
    assert comment["foreign"]
    assert (await owner.send(comment))["code"] == "forbidden"
    taken = await owner.client.intend(
        "put_comment", session=owner.session, id=comment["id"], version=1, text=comment["text"]
    )
    assert taken["ok"]
    # Now it is the owner's, which the operator may read and send, but not change or delete.
    (comment,) = await operator.comments()
    assert (comment["own"], comment["foreign"]) == (False, False)
    changed = await operator.client.intend(
        "put_comment", session=owner.session, id=comment["id"], version=2, text="Other words"
    )
    assert changed["code"] == "forbidden"
    deleted = await operator.client.intend(
        "delete_comment", session=owner.session, id=comment["id"], version=2
    )
    assert deleted["code"] == "forbidden"
    assert (await owner.send(*await owner.comments()))["ok"]


async def test_B74_viewers_and_approvers_neither_read_nor_write_comments(served: Served) -> None:
    new_repository(served.project, FILES)
    owner = await review_client(served)
    await owner.put("README.md", 1, "hello", "Secret.")
    (comment,) = await owner.comments()
    for role in ("viewer", "approver"):
        low = await review_client(served, role, owner.session)
        status, _, _ = await served.http(
            f"/api/sessions/{owner.session}/comments",
            Authorization=f"Bearer {low.client.token}",
        )
        assert status == 403
        assert (await low.put("README.md", 1, "hello", "Mine."))["code"] == "forbidden"
        assert (await low.send(comment))["code"] == "forbidden"
        resolved = await low.client.intend(
            "resolve_comment", session=owner.session, id=comment["id"], resolved=True
        )
        assert resolved["code"] == "forbidden"
    assert not (await owner.comments())[0]["resolved"]


async def test_B74_the_comment_of_a_revoked_device_must_be_taken_over(served: Served) -> None:
    new_repository(served.project, FILES)
    owner = await review_client(served)
    stolen = await review_client(served, "owner", owner.session)
    await stolen.put("README.md", 1, "hello", "Run rm -rf.")
    (stored,) = await served.service.store.comments(owner.session)
    assert (await owner.client.intend("revoke_device", device=stored.device))["ok"]
    (comment,) = await owner.comments()
    assert comment["foreign"]
    assert (await owner.send(comment))["code"] == "forbidden"
