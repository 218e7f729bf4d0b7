"""Output of slash commands, in both its forms (TRUTH 1.6).

Up to 2.1.38 it is a replayed user line with `<local-command-stdout>` around it, from 2.1.120 on
an assistant line of the model `<synthetic>`. A third form is in `turns`: the result alone.
"""

from __future__ import annotations

import re

from fairlead.transcript import context, plain
from fairlead.transcript.fold import Fold
from fairlead.transcript.model import CommandItem
from fairlead.wire.events import Assistant

__all__ = ["SYNTHETIC", "is_output", "printed", "show_output", "take_synthetic", "typed"]

SYNTHETIC = "<synthetic>"
"""The model name the CLI gives to what it says itself."""

_OUTPUT = re.compile(
    r"\s*<local-command-(stdout|stderr)>(.*?)(?:</local-command-\1>)?\s*", re.DOTALL
)

_ECHO = re.compile(
    r"<command-name>\s*/?(.*?)\s*</command-name>(?:.*?<command-args>(.*?)</command-args>)?",
    re.DOTALL,
)


def is_output(text: str) -> bool:
    """Whether a user line is what a slash command printed."""
    return text.lstrip().startswith(("<local-command-stdout>", "<local-command-stderr>"))


def typed(text: str) -> str:
    """What the user typed, where a line only repeats which slash command was given."""
    found = _ECHO.search(text) if "<command-name>" in text else None
    return f"/{found[1]} {(found[2] or '').strip()}".strip() if found else text


def printed(text: str) -> tuple[str, bool]:
    """What stands inside the tags, and whether it is an error."""
    found = _OUTPUT.fullmatch(text)
    return (found[2], found[1] == "stderr") if found else (text, False)


def show_output(fold: Fold, text: str, uuid: str | None) -> str:
    """The first form; gives the id of the item."""
    inner, failed = printed(text)
    return _show(fold, inner, uuid, failed=failed)


def take_synthetic(fold: Fold, message: Assistant) -> str | None:
    """The second form; None if the line is not the output of a command."""
    source = message.local_command_source
    if source is None and (message.message.model != SYNTHETIC or _command(fold) is None):
        return None
    outcome = plain.text(plain.mapping(message.local_command_outcome).get("kind"))
    failed = outcome == "failed" or (source or "").startswith("<local-command-stderr>")
    run = plain.mapping(message.local_command_run)
    command, args = plain.text(run.get("command")), plain.text(run.get("args"))
    item = _show(fold, message.text, message.uuid, failed=failed, command=command, args=args)
    if message.context_usage is not None:
        context.take_answer(fold, message.context_usage, "command")
    return item


def _show(
    fold: Fold,
    text: str,
    uuid: str | None,
    *,
    failed: bool,
    command: str = "",
    args: str = "",
) -> str:
    asked = _command(fold)
    if asked is not None:
        command, args = asked
    item_id = fold.unused(uuid) if uuid else fold.number("command")
    fold.show(
        CommandItem(
            id=item_id,
            turn=fold.memory.turn,
            at=fold.at,
            command=command,
            args=args,
            text=text.rstrip(),
            failed=failed,
        )
    )
    fold.memory.turn_has_words = True
    context.take_markdown(fold, text)
    return item_id


def _command(fold: Fold) -> tuple[str, str] | None:
    """The slash command the running turn is about, and its arguments."""
    turn = fold.turn
    prompt = fold.item(turn.prompts[0]) if turn is not None and turn.prompts else None
    if prompt is None or prompt.command is None:
        return None
    return prompt.command, prompt.text.partition(" ")[2]
