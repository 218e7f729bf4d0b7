"""Options that cannot be combined, each with a remedy.

Most of these would end the CLI at once, some without any output on stdout. A handler that would
never be called is an error as well. Pure; the single values were checked before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairlead.errors import OptionError

if TYPE_CHECKING:
    from fairlead.host.options.options import Options

__all__ = ["check_conflicts"]


def check_conflicts(options: Options) -> None:
    """Raise `OptionError` for the first contradiction."""
    _check_conversation(options)
    _check_model(options)
    _check_deciders(options)


def _check_conversation(options: Options) -> None:
    """CLI-703: each of these ends the CLI with exit 1, some without any output on stdout."""
    starts = {
        "resume": options.resume is not None,
        "continue_latest": options.continue_latest,
        "session.from_pr": options.session.from_pr is not None,
    }
    chosen = [name for name, is_set in starts.items() if is_set]
    if len(chosen) > 1:
        raise OptionError(chosen[1], f"cannot be given together with {chosen[0]}.", "Choose one.")
    if options.fork and not chosen:
        raise OptionError("fork", "needs a session to fork.", "Give resume or continue_latest.")
    if options.session_id is not None and chosen and not options.fork:
        raise OptionError(
            "session_id", f"cannot be given together with {chosen[0]}: that session has an id.",
            "Add fork=True to continue under the new id.",
        )  # fmt: skip
    if options.resume_at is not None and options.resume is None:
        raise OptionError("resume_at", "needs resume, the session to cut.")
    if options.session.resume_drops_turn is not None and options.resume_at is None:
        raise OptionError("session.resume_drops_turn", "needs resume_at.")


def _check_model(options: Options) -> None:
    if options.model is not None and options.model in (options.fallback_model or ()):
        raise OptionError("fallback_model", f"is the model itself, {options.model!r}.")


def _check_deciders(options: Options) -> None:
    if options.danger.skip_permissions and options.permission_mode not in (
        None,
        "default",
        "bypassPermissions",
    ):
        raise OptionError(
            "permission_mode",
            f"{options.permission_mode!r} contradicts danger.skip_permissions.",
            "Leave one of them out.",
        )
    bypass = options.danger.skip_permissions or options.permission_mode == "bypassPermissions"
    if options.profile.restricted and bypass:
        raise OptionError(
            "profile.restricted", "cannot be combined with a bypass of permissions.",
            "Leave one of them out.",
        )  # fmt: skip
    handlers = ("on_permission", "on_question", "on_plan")
    unused = [name for name in handlers if getattr(options, name) is not None]
    if options.mcp.permission_tool is not None and unused:
        raise OptionError(
            unused[0], "would never be called: mcp.permission_tool answers instead.",
            "Leave one of them out.",
        )  # fmt: skip
    if options.stream.dialog_kinds and options.on_dialog is None:
        raise OptionError("stream.dialog_kinds", "needs on_dialog, which answers such dialogs.")
