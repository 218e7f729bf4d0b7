"""Intents about review comments: write, delete, resolve, and send as one prompt.

A comment belongs to the device that wrote its text. A device may change comments of devices whose
role is not higher than its own, and becomes their author by that. A review contains only comments
whose author has at least the role of the sender, so that nothing from a lower role becomes input of
a higher one (rule R8): a comment of another device is sent after the sender has taken it over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from msgspec import structs

from fairlead.server.access.roles import ROLES
from fairlead.server.intents.context import IntentContext
from fairlead.server.intents.handlers import Handler, Handlers, Result
from fairlead.server.intents.prompt import send
from fairlead.server.protocol.intents import Send
from fairlead.server.protocol.workbench_intents import (
    DeleteComment,
    PutComment,
    ResolveComment,
    SendReview,
)
from fairlead.server.refusal import Refusal
from fairlead.server.review.comment_place import followed_content
from fairlead.server.review.review_prompt import review_text
from fairlead.server.review.session_files import SessionFiles
from fairlead.server.sessions.sessions import Sessions
from fairlead.server.working_files import id_of
from fairlead.store.tables.comments import Comment, SentFile

__all__ = ["handlers", "is_open", "rank_of"]

ID_CHARS = 64
MOST_LINE = 10_000_000
MOST_LINES = 500
"""The highest number of a line, and the most lines of one comment."""
NOT_ANSWERED = frozenset({"cancelled", "lost", "refused"})
"""States of a prompt that the agent never gets: its comments are drafts again."""


async def put_comment(sessions: Sessions, context: IntentContext, intent: PutComment) -> Result:
    """Store a comment."""
    _check_text(sessions, intent)
    before = await sessions.store.comment(intent.session, intent.id)
    if before is None:
        comment = await _new(sessions, context, intent)
    else:
        await _check_change(sessions, context, before, intent.version)
        comment = structs.replace(
            before,
            version=before.version + 1,
            text=intent.text,
            device=context.device.id,
            author=context.by,
            edited=sessions.clock(),
            prompt=None,
        )
    await sessions.store.put_comments([comment])
    _announce(sessions, intent.session)
    return {"version": comment.version}


async def delete_comment(
    sessions: Sessions, context: IntentContext, intent: DeleteComment
) -> Result:
    """Delete a comment, sent or not."""
    comment = await _comment(sessions, intent.session, intent.id)
    _check_author(sessions, context, comment)
    _check_version(comment, intent.version)
    await sessions.store.delete_comment(intent.session, intent.id)
    _announce(sessions, intent.session)
    return {}


async def resolve_comment(
    sessions: Sessions, context: IntentContext, intent: ResolveComment
) -> Result:
    """Mark a comment as resolved or open."""
    comment = await _comment(sessions, intent.session, intent.id)
    at = sessions.clock() if intent.resolved else None
    await sessions.store.put_comments([structs.replace(comment, resolved=at)])
    _announce(sessions, intent.session)
    return {}


async def send_review(sessions: Sessions, context: IntentContext, intent: SendReview) -> Result:
    """Send comments as one prompt.

    The comments name the prompt before it is queued. If the server stops in between, no prompt with
    this uuid exists, and they are still drafts (`is_open`).
    """
    chosen = await _chosen(sessions, context, intent)
    text = review_text(chosen, intent.text, context.device.id)
    if len(text.encode("utf-8", "replace")) > sessions.limits.prompt_bytes:
        raise Refusal("too_large", "The review is too long for one prompt. Send fewer comments.")
    files = _files(sessions, intent.session)
    contents = await asyncio.to_thread(_contents, files, chosen)
    sent = [structs.replace(comment, prompt=intent.uuid) for comment in chosen]
    snapshots = [
        SentFile(session=intent.session, prompt=intent.uuid, file=file, content=content)
        for file, content in contents.items()
    ]
    await sessions.store.put_comments(sent, snapshots)
    prompt = Send(session=intent.session, uuid=intent.uuid, text=text, verbatim=True)
    result = await send(sessions, context, prompt)
    _announce(sessions, intent.session)
    return result


async def is_open(sessions: Sessions, comment: Comment) -> bool:
    """Whether a comment is a draft: it was not sent, or the agent never got its prompt."""
    if comment.prompt is None:
        return True
    live = await sessions.load(comment.session)
    item = live.transcript.item(comment.prompt)
    held = live.prompts.get(comment.prompt) is not None
    return not held and (item is None or getattr(item, "state", "") in NOT_ANSWERED)


def rank_of(sessions: Sessions, device: str) -> int:
    """The rank of a device's role; -1 for a device that was revoked."""
    role = getattr(sessions.device(device), "role", None)
    return ROLES.index(role) if role in ROLES else -1


async def _new(sessions: Sessions, context: IntentContext, intent: PutComment) -> Comment:
    if intent.version != 0:
        raise Refusal("stale", "This comment was deleted on another device.")
    if not 0 < len(intent.id) <= ID_CHARS:
        raise Refusal("bad_message", f"A comment's id must have 1 to {ID_CHARS} characters.")
    lines = intent.code.count("\n") + 1
    if lines > MOST_LINES:
        raise Refusal("too_large", f"A comment can quote at most {MOST_LINES} lines.")
    if not 1 <= intent.start <= intent.end <= MOST_LINE or lines != intent.end - intent.start + 1:
        raise Refusal("bad_message", "`start` and `end` must be the numbers of the quoted lines.")
    if intent.side not in ("new", "old"):
        raise Refusal("bad_message", "`side` must be new or old.")
    if len(await sessions.store.comments(intent.session)) >= sessions.limits.comments:
        limit = sessions.limits.comments
        raise Refusal("too_many", f"A session can have at most {limit} comments. Delete one first.")
    files = _files(sessions, intent.session)
    path = await asyncio.to_thread(files.absolute, intent.tree, intent.file)
    now = sessions.clock()
    return Comment(
        session=intent.session,
        id=intent.id,
        version=1,
        device=context.device.id,
        author=context.by,
        file=id_of(path),
        path=files.shown(path),
        side=intent.side,
        start=intent.start,
        end=intent.end,
        code=intent.code,
        text=intent.text,
        created=now,
        edited=now,
    )


def _check_text(sessions: Sessions, intent: PutComment) -> None:
    limits = sessions.limits
    if not intent.text.strip():
        raise Refusal("bad_message", "A comment needs a text.")
    if len(intent.text.encode("utf-8", "replace")) > limits.comment_bytes:
        raise Refusal("too_large", f"A comment can have at most {limits.comment_bytes:,} bytes.")
    if len(intent.code.encode("utf-8", "replace")) > limits.comment_code_bytes:
        most = limits.comment_code_bytes
        raise Refusal(
            "too_large", f"The commented lines can have at most {most:,} bytes. Select fewer lines."
        )


async def _comment(sessions: Sessions, session: str, comment: str) -> Comment:
    stored = await sessions.store.comment(session, comment)
    if stored is None:
        raise Refusal("not_found", "Comment not found. It may have been deleted.")
    return stored


async def _check_change(
    sessions: Sessions, context: IntentContext, comment: Comment, version: int
) -> None:
    _check_author(sessions, context, comment)
    _check_version(comment, version)
    if not await is_open(sessions, comment):
        raise Refusal("stale", "This comment was already sent. Write a new comment instead.")


def _check_author(sessions: Sessions, context: IntentContext, comment: Comment) -> None:
    if comment.device == context.device.id:
        return
    if rank_of(sessions, comment.device) > ROLES.index(context.role):
        raise Refusal("forbidden", "This comment is from a device with a higher role.")


def _check_version(comment: Comment, version: int) -> None:
    if comment.version != version:
        raise Refusal("stale", "The comment was changed on another device. Look at it again.")


async def _chosen(
    sessions: Sessions, context: IntentContext, intent: SendReview
) -> Sequence[Comment]:
    if not intent.comments:
        raise Refusal("bad_message", "A review needs at least one comment.")
    stored = {comment.id: comment for comment in await sessions.store.comments(intent.session)}
    if len({named.id for named in intent.comments}) != len(intent.comments):
        raise Refusal("bad_message", "A comment is named twice.")
    chosen = []
    for named in intent.comments:
        comment = stored.get(named.id)
        if comment is None:
            raise Refusal(
                "stale", "A comment was deleted on another device. Look at the list again."
            )
        _check_version(comment, named.version)
        if not await is_open(sessions, comment):
            raise Refusal("stale", "A comment was already sent. Look at the list again.")
        own = comment.device == context.device.id
        if not own and rank_of(sessions, comment.device) < ROLES.index(context.role):
            raise Refusal(
                "forbidden",
                f"A comment was written by {comment.author}, which has a lower role. Take it over "
                "before you send it.",
            )
        chosen.append(comment)
    return chosen


def _files(sessions: Sessions, session: str) -> SessionFiles:
    row = sessions.row(session)
    return SessionFiles(sessions.policy, sessions.policy.check_folder(row.cwd))


def _contents(files: SessionFiles, comments: Sequence[Comment]) -> dict[str, bytes]:
    contents = {}
    for file in dict.fromkeys(comment.file for comment in comments):
        content = followed_content(files, file)
        if content is not None:
            contents[file] = content
    return contents


def _announce(sessions: Sessions, session: str) -> None:
    """Make the clients that show the comments of a session read them again."""
    if sessions.lobby.session(session) is not None:
        sessions.lobby.update("sessions", session, workbench_at=sessions.clock())


def handlers() -> Handlers:
    """The handlers of one server. Of each session they run one after the other.

    Otherwise two devices that send the same comments at the same moment would send them twice.
    """
    locks: dict[str, asyncio.Lock] = {}

    def in_turn(handler: Handler) -> Handler:
        async def handle(sessions: Sessions, context: IntentContext, intent: Any) -> Result:
            sessions.row(intent.session)
            async with locks.setdefault(intent.session, asyncio.Lock()):
                return await handler(sessions, context, intent)

        return handle

    return {
        PutComment: in_turn(put_comment),
        DeleteComment: in_turn(delete_comment),
        ResolveComment: in_turn(resolve_comment),
        SendReview: in_turn(send_review),
    }
