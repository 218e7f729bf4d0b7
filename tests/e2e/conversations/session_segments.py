"""Segments about processes and sessions: resume, continue, fork, end of input, signals, rewinding."""

from __future__ import annotations

from tests.e2e.conversations.draft import Draft

RESUMED: tuple[list[str], ...] = (
    ["--resume", "{session}"],
    ["--continue"],
    ["--resume", "{session}", "--fork-session"],
    ["--continue", "--fork-session"],
    ["--resume", "{session}", "--resume-session-at", "{uuid first}"],
    ["--resume", "99999999-9999-4999-8999-999999999999"],
    ["--session-id", "{session}"],
    ["--resume", "{session}", "--session-id", "99999999-9999-4999-8999-999999999999"],
    ["--resume", "{session}", "--permission-mode", "acceptEdits"],
    [],
)


def resumed(draft: Draft) -> None:
    """A second process that continues the session of the first, after a clean or unclean end."""
    stage = draft.one_of("idle", "idle", "idle", "permission", "running", "interrupted")
    draft.prompt("begin", uuid="first")
    if stage == "permission":
        draft.permissions.append("hold")
        draft.reply(draft.bash("touch made"))
        draft.wait("permission")
    elif stage == "running":
        draft.allow("Bash")
        draft.reply(draft.bash("touch started; sleep 30"))
        draft.wait("file started")
    elif stage == "interrupted":
        draft.reply(draft.text(), waits=[{"before": 0, "forever": True}])
        draft.wait("model init")
        draft.interrupt()
        draft.wait("result")
    else:
        draft.reply(*draft.one_of([draft.text("One.")], [draft.bash("echo one")]))
        draft.reply(draft.text("Two."))
        draft.wait("result")
    draft.segment += 1
    unclean = {"signal": "SIGKILL"} if stage in ("permission", "running") else {}
    draft.step(restart=draft.one_of(*RESUMED), **unclean)
    if draft.chance(0.3):
        draft.request("initialize")
        draft.wait("quiet")
    draft.reply(draft.text("After the restart."))
    draft.prompt("go on", uuid=draft.one_of("second", "second", "first"))
    draft.wait("quiet")
    draft.is_last = True


def end_of_input(draft: Draft) -> None:
    """The host closes stdin or sends a signal at some stage of a turn."""
    stage = draft.one_of(
        "at once", "permission", "running", "queue", "background", "idle", "question"
    )
    if stage in ("at once", "queue"):
        # The model waits for the second prompt: otherwise the two would race.
        waits = {"waits": [{"before": 0, "inputs": 1}]} if stage == "queue" else {}
        draft.reply(draft.bash("echo one"), **waits)
        draft.reply(draft.text())
        draft.prompt()
        if stage == "queue":
            draft.wait("model init")
            draft.prompt("and more")
    elif stage == "permission":
        draft.permissions.append("hold")
        draft.reply(draft.bash("touch made"))
        draft.reply(draft.text())
        draft.prompt()
        draft.wait("permission")
    elif stage == "question":
        options = [{"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}]
        asked = {"question": "Which?", "header": "W", "multiSelect": False, "options": options}
        draft.permissions.append("hold")
        draft.reply(draft.tool("AskUserQuestion", questions=[asked]))
        draft.reply(draft.text())
        draft.prompt()
        draft.wait("permission")
    elif stage in ("running", "background"):
        draft.allow("Bash")
        background = {"run_in_background": True} if stage == "background" else {}
        draft.reply(draft.bash("touch started; sleep 2; echo over", **background))
        draft.reply(draft.text())
        draft.prompt()
        draft.wait("file started" if stage == "running" else "result")
    else:
        draft.reply(draft.text())
        draft.turn()
    if stage in ("running", "permission", "idle") and draft.chance(0.4):
        draft.step(signal=draft.one_of("SIGINT", "SIGTERM"))
        draft.wait("quiet")
    draft.is_last = True


def rewinding(draft: Draft) -> None:
    """File checkpoints: rewinding to a prompt, as a dry run, twice, or without checkpoints."""
    if draft.chance(0.8):
        draft.env["CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"] = "1"
    draft.files["project/a.txt"] = "one\ntwo\n"
    draft.flags += ["--permission-mode", "acceptEdits"]
    for number, name in enumerate(("first", "second")[: draft.one_of(1, 2)]):
        file = draft.one_of("a.txt", "new.txt")
        draft.reply(draft.tool("Read", file_path="{root}/project/a.txt"))
        path = f"{{root}}/project/{file}"
        draft.reply(draft.tool("Write", file_path=path, content=f"{number}\n"))
        draft.reply(draft.text())
        draft.prompt(f"write {number}", uuid=name)
        draft.wait("result")
    for _ in range(draft.one_of(1, 2)):
        wanted = draft.one_of("{uuid first}", "{uuid second}", "{uuid never}")
        more = draft.one_of({}, {}, {"dry_run": True})
        draft.request("rewind_files", user_message_id=wanted, **more)
        draft.wait("answered")
    draft.reply(draft.tool("Read", file_path="{root}/project/new.txt"))
    draft.reply(draft.text())
    draft.turn()


def states(draft: Draft) -> None:
    """A turn with events about the state of the session."""
    draft.env["CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS"] = "1"
    kind = draft.one_of("text", "permission", "interrupt", "slash", "error", "question")
    if kind == "permission":
        draft.reply(draft.bash("touch made"))
        draft.permissions.append(draft.one_of("allow", "deny", "deny_interrupt"))
    elif kind == "error":
        draft.fail(403, retry=False)  # 2.1.325 retries 400 once, whatever the header says
    elif kind == "interrupt":
        draft.reply(draft.text(), waits=[{"before": 0, "forever": True}])
        draft.prompt()
        draft.wait("model init")
        draft.interrupt()
        draft.wait("quiet")
        return
    elif kind == "question":
        options = [{"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}]
        asked = {"question": "Which?", "header": "W", "multiSelect": False, "options": options}
        draft.permissions.append("first")
        draft.reply(draft.tool("AskUserQuestion", questions=[asked]))
    draft.reply(draft.text())
    draft.turn("/cost" if kind == "slash" else None)
    draft.wait("quiet")
