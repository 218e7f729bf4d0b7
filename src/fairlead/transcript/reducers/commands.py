"""Output of slash commands, in both forms (CLI-601, CLI-1308).

Up to 2.1.38 it is a replayed user line with `<local-command-stdout>` around it, from 2.1.120 on
an assistant line of the model `<synthetic>`. A third form is in `turns`: the result alone.
"""

from __future__ import annotations

from fairlead.transcript.reducers import context
from fairlead.transcript.state import plain
from fairlead.transcript.state.fold import Fold
from fairlead.transcript.state.model import CommandItem
from fairlead.wire.events import Assistant

__all__ = ["SYNTHETIC", "is_output", "printed", "show_output", "take_synthetic", "typed"]

SYNTHETIC = "<synthetic>"
"""The model name the CLI gives to what it says itself."""


def is_output(text: str) -> bool:
    """Whether a user line is what a slash command printed."""
    return text.lstrip().startswith(("<local-command-stdout>", "<local-command-stderr>"))


def typed(text: str) -> str:
    """What the user typed, where a line only repeats which slash command was given."""
    name = _between(text, "command-name")
    if name is None:
        return text
    args = _between(text[name[1] :], "command-args")
    return f"/{name[0].strip().removeprefix('/')} {args[0].strip() if args else ''}".strip()


def printed(text: str) -> tuple[str, bool]:
    """The text inside the tags, and whether it is an error."""
    for kind in ("stdout", "stderr"):
        tag = f"local-command-{kind}>"
        stripped = text.lstrip()
        if stripped.startswith(f"<{tag}"):
            inner = stripped[len(tag) + 1 :].rstrip().removesuffix(f"</{tag}")
            return inner, kind == "stderr"
    return text, False


def _between(text: str, tag: str) -> tuple[str, int] | None:
    """The text inside the first tag of a name, and where it ends; None if it is not closed.

    By plain search: these lines come from files, and a pattern with two open ends would take
    square time for many tags that are never closed.
    """
    start = text.find(f"<{tag}>")
    end = text.find(f"</{tag}>", start) if start >= 0 else -1
    if end < 0:
        return None
    return text[start + len(tag) + 2 : end], end + len(tag) + 3


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
    requested = _command(fold)
    if requested is not None:
        command, args = requested
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
