"""The choices for the answer to each pending request, computed once and outside the event loop.

The text of a request comes from a model, so computing its choices is bounded (`permissions` has
the limits) and happens in a thread before clients see the request. Large inputs are hashed there
too, whether their choices are computed or not. A request whose choices are not ready in time, or
that arrives when too many are open, can only be allowed once or denied, and a note says why. The
choices stay until the request is answered, because a number must not change its meaning.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from fairlead.host.requests.decisions import PermissionRequest
from fairlead.permissions.rules.decisions import ToolCall
from fairlead.permissions.rules.paths import PathContext
from fairlead.permissions.rules.tools import INTERACTIVE
from fairlead.server.limits import Limits
from fairlead.server.policy import Policy
from fairlead.server.view.always_choices import Offer, offers
from fairlead.server.view.seen import (
    UserRequest,
    group_sha256,
    is_large_request,
    request_sha256,
    row_sha256,
    user_request_of,
)
from fairlead.transcript.reduce import Fed
from fairlead.transcript.reducers.pending import listed_requests
from fairlead.transcript.state.model import Pending, ToolItem
from fairlead.transcript.transcript import Transcript
from fairlead.wire.control import CanUseTool, ControlRequest, ControlResponse
from fairlead.wire.input_hash import input_sha256
from fairlead.wire.updates import UnknownUpdate

__all__ = ["PendingOffers", "Prepared"]

log = logging.getLogger("fairlead")

TOO_LONG = "Too long to analyze: you can allow it once or deny it, but not always."
TOO_MANY = "Too many open requests to analyze this one: you can allow it once or deny it."

EARLIER = 50
"""Earlier calls that are examined for examples of what a choice allows."""
SEARCHED = 500
"""Items of the transcript that are searched for them."""


class Prepared(Struct, frozen=True):
    """What a client gets with a request."""

    sha256: str
    offers: tuple[Offer, ...] = ()
    note: str = ""
    """Why there are no choices; empty if there is no such reason."""
    group: str = ""
    """The hash of the call without its description; empty if it was not computed ahead."""


class PendingOffers:
    """The choices for the requests of one session."""

    def __init__(
        self,
        transcript: Transcript,
        policy: Policy,
        context: Callable[[], PathContext],
        limits: Limits,
    ) -> None:
        self._transcript = transcript
        self._policy = policy
        self._context = context
        self._limits = limits
        self._prepared: dict[str, Prepared] = {}
        self._hashed: dict[str, tuple[str, str]] = {}
        """The hashes of large requests whose choices are not computed."""

    def of(self, row: Pending) -> Prepared:
        """What was prepared for a request, or is computed for it now."""
        prepared = self._prepared.get(row.id)
        if prepared is None:
            self._sweep()
            prepared = self._prepared[row.id] = self._now(row)
        return prepared

    def hashes(self, row: Pending) -> tuple[str, str]:
        """The hash of a request's input, and that of its group.

        Two permission requests are of one group if only the model's description differs.
        """
        prepared = self.of(row)
        if row.kind != "permission" or not isinstance(row.input, Mapping):
            return prepared.sha256, ""
        return prepared.sha256, prepared.group or group_sha256(row.tool_name, row.input)

    async def prepare(self, fed: Sequence[Fed]) -> None:
        """Compute choices and hashes of requests that are about to be shown, within a deadline."""
        new = self._new_requests(fed)
        if not new:
            return
        await self._analyze(self._calls(new))
        for name, request in new.items():
            user_request = user_request_of(name, request) if name not in self._prepared else None
            if user_request is not None and is_large_request(user_request):
                self._hashed[name] = await asyncio.to_thread(_hashes, user_request)

    async def _analyze(self, calls: dict[str, tuple[ToolCall, list[Any]]]) -> None:
        if not calls:
            return
        context, earlier = self._context(), self._earlier(None)
        computed: dict[str, Prepared] = {}
        stop = False

        def compute() -> None:
            for name, (call, suggested) in calls.items():
                if stop:
                    return
                computed[name] = _prepared(call, suggested, self._policy, context, earlier)

        try:
            async with asyncio.timeout(self._limits.analysis_s):
                await asyncio.to_thread(compute)
        except TimeoutError:
            stop = True
            log.warning("%d requests arrived too fast to analyze all of them", len(calls))
        except Exception:
            log.exception("the choices for a request could not be computed")
        for name, (call, _) in calls.items():
            if name not in computed:
                computed[name] = await asyncio.to_thread(_unanalyzed, call)
            self._prepared[name] = computed[name]

    def _new_requests(self, fed: Sequence[Fed]) -> dict[str, Any]:
        """The requests among some events that are not known yet; the first of one id counts."""
        requests: dict[str, Any] = {}
        for message in _requests_in(fed):
            name = message.request_id
            known = name in requests or name in self._prepared or name in self._hashed
            if not known and self._transcript.row("pending", name) is None:
                requests[name] = message.request
        return requests

    def _calls(self, new: dict[str, Any]) -> dict[str, tuple[ToolCall, list[Any]]]:
        """The calls whose choices are computed, up to the limit of open requests."""
        room = self._limits.requests_analyzed - self._transcript.count("pending")
        calls: dict[str, tuple[ToolCall, list[Any]]] = {}
        for name, request in new.items():
            if len(calls) >= room:
                break
            if not isinstance(request, CanUseTool) or request.tool_name in INTERACTIVE:
                continue
            if request.suppress_always_allow_rule:
                continue
            suggested = [_plain(update) for update in request.permission_suggestions or ()]
            calls[name] = ToolCall(tool=request.tool_name, input=request.input), suggested
        return calls

    def _now(self, row: Pending) -> Prepared:
        hashed = self._hashed.get(row.id)
        sha256, group = hashed or (row_sha256(row), "")
        if row.kind != "permission" or not isinstance(row.input, Mapping):
            return Prepared(sha256)
        if row.suppress_always_allow_rule:
            return Prepared(sha256, group=group)
        # At the limit too: choices are not computed here for requests that move up the list.
        if hashed or self._transcript.count("pending") >= self._limits.requests_analyzed:
            return Prepared(sha256, note=TOO_MANY, group=group)
        call = ToolCall(tool=row.tool_name, input=row.input)
        return _prepared(call, row.suggestions, self._policy, self._context(), self._earlier(row))

    def _sweep(self) -> None:
        """Forget answered requests, but not at every request, which would take square time."""
        count = self._transcript.count("pending")
        if len(self._prepared) + len(self._hashed) > 2 * count + 100:
            open_ids = {row.id for row in self._transcript.pending}
            self._prepared = {
                name: prepared for name, prepared in self._prepared.items() if name in open_ids
            }
            self._hashed = {
                name: hashes for name, hashes in self._hashed.items() if name in open_ids
            }

    def _earlier(self, row: Pending | None) -> list[ToolCall]:
        """The last calls of this session."""
        calls: list[ToolCall] = []
        for number, item in enumerate(self._transcript.newest()):
            if number >= SEARCHED or len(calls) >= EARLIER:
                break
            if not isinstance(item, ToolItem) or (row is not None and item.id == row.tool):
                continue
            if isinstance(item.input, Mapping):
                calls.append(ToolCall(tool=item.name, input=item.input))
        return calls


def _requests_in(fed: Sequence[Fed]) -> Iterator[ControlRequest]:
    """The requests of the CLI among some events, including those that it lists again (CLI-225)."""
    for message in fed:
        if isinstance(message, ControlRequest):
            yield message
        elif isinstance(message, ControlResponse):
            body = message.response
            yield from listed_requests(body.pending_permission_requests)
            yield from listed_requests(body.pending_user_dialog_requests)
            yield from listed_requests(body.pending_elicitation_requests)


def _plain(update: Any) -> Any:
    return update.data if isinstance(update, UnknownUpdate) else msgspec.to_builtins(update)


def _prepared(
    call: ToolCall,
    suggested: Sequence[Any],
    policy: Policy,
    context: PathContext,
    earlier: Iterable[ToolCall],
) -> Prepared:
    from fairlead.permissions.choices import too_long_to_analyze  # See `always_choices.offers`.

    unanalyzed = _unanalyzed(call)
    if too_long_to_analyze(call):
        return unanalyzed
    choices = offers(call, suggested, policy, context, earlier)
    return Prepared(unanalyzed.sha256, choices, group=unanalyzed.group)


def _unanalyzed(call: ToolCall) -> Prepared:
    group = group_sha256(call.tool, call.input)
    return Prepared(input_sha256(call.input), note=TOO_LONG, group=group)


def _hashes(request: UserRequest) -> tuple[str, str]:
    group = ""
    if isinstance(request, PermissionRequest):
        group = group_sha256(request.tool_name, request.input)
    return request_sha256(request), group
