"""Intents that open and close a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairlead.server.intents.context import IntentContext
from fairlead.server.intents.handlers import Handlers, Result
from fairlead.server.protocol.terminal_intents import CloseTerminal, OpenTerminal
from fairlead.server.refusal import Refusal
from fairlead.server.sessions.sessions import Sessions
from fairlead.server.terminal.channel import NOT_OFFERED

if TYPE_CHECKING:
    from fairlead.server.terminal.terminals import TerminalRegistry

__all__ = ["handlers"]


def handlers(terminals: TerminalRegistry | None) -> Handlers:
    """The handlers of one server; without terminals they refuse."""
    if terminals is None:
        return {OpenTerminal: _refuse, CloseTerminal: _refuse}

    async def open_terminal(
        sessions: Sessions, context: IntentContext, intent: OpenTerminal
    ) -> Result:
        row = sessions.row(intent.session)
        folder = sessions.policy.check_folder(row.cwd)
        device = context.device.id
        return {"terminal": await terminals.open(row.id, folder, device, intent.cols, intent.rows)}

    async def close_terminal(
        sessions: Sessions, context: IntentContext, intent: CloseTerminal
    ) -> Result:
        await terminals.close_terminal(intent.terminal, context.device.id)
        return {}

    return {OpenTerminal: open_terminal, CloseTerminal: close_terminal}


async def _refuse(sessions: Sessions, context: IntentContext, intent: object) -> Result:
    raise Refusal("unavailable", NOT_OFFERED)
