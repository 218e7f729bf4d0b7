"""Segments of a conversation: prompts, tools, permissions, queues, errors and commands.

A segment adds replies, answers and steps to a draft and leaves the process idle, so that segments
can follow each other in any order. Interrupts, subagents, hooks and servers have their own modules.
"""

from __future__ import annotations

from tests.e2e.conversations.draft import Draft
from tests.e2e.conversations.host_answers import PERMISSION_ANSWERS, PIXEL, QUESTION_ANSWERS
from tests.e2e.conversations.host_script import Data

LONG_TEXT = "This is a longer answer that arrives in several pieces, one after the other."
TOOL_SCRIPT = "#!/bin/sh\necho ran $*\n"


def plain(draft: Draft) -> None:
    """Text and thinking, in one message or with an unusual end."""
    kind = draft.one_of("text", "thinking", "texts", "empty", "max_tokens", "refusal", "only_think")
    match kind:
        case "text":
            draft.reply(draft.text(LONG_TEXT), piece=draft.one_of(5, 16, 100))
        case "thinking":
            draft.reply(draft.thinking(), draft.text())
        case "texts":
            draft.reply(draft.text("First."), draft.text("Second."))
        case "empty":
            draft.reply(draft.text(""))
        case "only_think":
            draft.reply(draft.thinking())
        case "max_tokens":
            draft.reply(draft.text(LONG_TEXT), stop_reason="max_tokens")
            draft.reply(draft.text("And the rest."))
        case _:
            draft.reply(draft.text("I will not."), stop_reason="refusal")
    draft.turn()


def automatic_tool(draft: Draft) -> None:
    """Tools that run without a permission request, and tools that fail."""
    draft.files["project/a.txt"] = "one\ntwo\n"
    tools: list[Data] = [
        draft.bash("ls"),
        draft.bash("echo hello"),
        draft.bash("cat missing.txt"),
        draft.bash("pwd; echo x >&2"),
        draft.tool("Read", file_path="{root}/project/a.txt"),
        draft.tool("Read", file_path="{root}/project/missing.txt"),
        draft.tool("Read", file_path="{root}/project"),
        draft.tool("Glob", pattern="*.txt"),
        draft.tool("Grep", pattern="one"),
        draft.tool("Nonexistent", x=1),
        draft.tool("Bash"),
        draft.tool("Read", file_path=3),
        draft.tool("Read", file_path="{root}/project/a.txt", offset=1, limit=1),
        draft.tool(
            "TodoWrite",
            todos=[{"content": "Do it", "status": "pending", "activeForm": "Doing it"}],
        ),
    ]
    for _ in range(draft.one_of(1, 1, 2)):
        before = [draft.text("I look.")] if draft.chance(0.4) else []
        draft.reply(*before, draft.one_of(*tools))
    draft.reply(draft.text())
    draft.turn()


def _asking_tool(draft: Draft) -> Data:
    draft.files["project/a.txt"] = "one\ntwo\n"
    draft.files["project/tool.sh"] = TOOL_SCRIPT
    draft.files["outside/x.txt"] = "x\n"
    tools: tuple[Data, ...] = (
        draft.tool("Write", file_path="{root}/project/new.txt", content="new\n"),
        draft.tool("Write", file_path="{root}/outside/new.txt", content="new\n"),
        draft.tool("Edit", file_path="{root}/project/a.txt", old_string="one", new_string="three"),
        draft.bash("./tool.sh a b"),
        draft.bash("touch made"),
        draft.bash("./tool.sh; exit 3"),
        draft.tool("Read", file_path="{root}/outside/x.txt"),
        draft.tool("WebFetch", url="http://127.0.0.1:9/", prompt="read"),
    )
    chosen: Data = draft.one_of(*tools[:-1]) if draft.chance(0.95) else tools[-1]
    return chosen


def permission(draft: Draft) -> None:
    """A tool that asks, with every kind of answer; sometimes a second one."""
    if draft.chance(0.3):
        draft.flags += ["--permission-mode", draft.one_of("acceptEdits", "plan", "dontAsk")]
    for _ in range(draft.one_of(1, 1, 2)):
        tool = _asking_tool(draft)
        kind = draft.one_of(*PERMISSION_ANSWERS)
        draft.permissions.append(kind)
        draft.reply(*([draft.text("I try.")] if draft.chance(0.3) else []), tool)
        if kind == "deny_interrupt":
            break
    draft.reply(draft.text())
    draft.turn()


def parallel(draft: Draft) -> None:
    """Several tools in one message."""
    draft.files["project/a.txt"] = "one\n"
    draft.files["outside/x.txt"] = "x\n"
    kinds: list[Data] = [
        draft.bash("echo one"),
        draft.bash("exit 2"),
        draft.tool("Write", file_path="{root}/project/b.txt", content="b\n"),
        draft.bash("touch made"),
        draft.tool("Read", file_path="{root}/outside/x.txt"),
    ]
    chosen = draft.random.sample(kinds, draft.one_of(2, 2, 3))
    draft.permissions += [draft.one_of("allow", "deny", "allow") for _ in chosen]
    draft.reply(*chosen)
    draft.reply(draft.text())
    draft.turn()


def question(draft: Draft) -> None:
    """AskUserQuestion with every kind of answer."""
    questions = [
        {
            "question": f"Which {word}?",
            "header": word,
            "multiSelect": draft.chance(0.3),
            "options": [
                {"label": "Red", "description": "r"},
                {"label": "Blue", "description": "b"},
            ],
        }
        for word in ("color", "shade")[: draft.one_of(1, 1, 2)]
    ]
    draft.permissions.append(draft.one_of(*QUESTION_ANSWERS, "deny", "deny_interrupt"))
    draft.reply(draft.tool("AskUserQuestion", questions=questions))
    draft.reply(draft.text())
    draft.turn()


def plan(draft: Draft) -> None:
    """Plan mode: entering it, leaving it, and edits in it."""
    if draft.chance(0.5):
        draft.reply(draft.tool("EnterPlanMode"))
    else:
        draft.request("set_permission_mode", mode="plan")
        draft.wait("answered")
    if draft.chance(0.3):
        draft.reply(draft.tool("Write", file_path="{root}/project/p.txt", content="p\n"))
        draft.permissions.append(draft.one_of("allow", "deny"))
    draft.reply(draft.tool("ExitPlanMode", plan="1. Do it"))
    draft.permissions.append(draft.one_of("allow", "deny", "allow_mode", "deny_interrupt"))
    draft.reply(draft.text())
    draft.turn()


def cancelled_queue(draft: Draft) -> None:
    """Queued prompts that the host cancels, one by one or with an interrupt."""
    draft.reply(draft.text(LONG_TEXT), waits=[{"before": 0, "forever": True}])
    draft.prompt()
    draft.wait("model init")
    draft.prompt("next", uuid="next")
    draft.wait("quiet")
    if draft.chance(0.5):
        draft.request("cancel_async_message", message_uuid="{uuid next}")
        draft.wait("quiet")
    draft.request("interrupt", **draft.one_of({}, {"cancel_queued": True}))
    draft.wait("quiet")
    draft.reply(draft.text("Later."))
    draft.turn("last")


def queued(draft: Draft) -> None:
    """Prompts that arrive while the model is silent, while it speaks, or while a tool waits."""
    count = draft.one_of(1, 1, 2)
    stage = draft.one_of("silent", "speaking", "permission", "at_once")
    if stage == "speaking" and not draft.is_partial:
        stage = "silent"
    if stage == "silent":
        draft.reply(draft.text(LONG_TEXT), waits=[{"before": 0, "inputs": count}])
        draft.prompt()
        draft.wait("model init")
    elif stage == "speaking":
        draft.reply(draft.text(LONG_TEXT), piece=8, waits=[{"before": 3, "inputs": count}])
        draft.prompt()
        draft.wait("model delta 3")
    elif stage == "permission":
        draft.permissions.append("hold")
        draft.reply(draft.bash("touch made"))
        draft.prompt()
        draft.wait("permission")
    else:
        draft.reply(draft.text())
        draft.prompt()
    for number in range(count):
        slash = draft.chance(0.15) and stage != "at_once"
        draft.prompt("/cost" if slash else f"and more {number}", uuid=not draft.chance(0.2))
        draft.reply(draft.text(f"Answer {number}."))
    if stage == "permission":
        draft.step(answer=draft.one_of("allow", "deny"))
    draft.wait("quiet")


def model_error(draft: Draft) -> None:
    """HTTP errors with and without a retry, and streams that break off."""
    if draft.chance(0.45):
        cut = draft.one_of(1, 2, 3)
        kind = draft.one_of("text", "tool", "thinking")
        if kind == "text":
            draft.reply(draft.text(LONG_TEXT), piece=8, cut_after=cut)
        elif kind == "thinking":
            draft.reply(draft.thinking(), draft.text(LONG_TEXT), piece=8, cut_after=cut + 2)
        else:
            draft.reply(draft.text("I try."), draft.bash("echo hello there"), cut_after=cut + 1)
            draft.allow("Bash")
    else:
        status = draft.one_of(400, 401, 403, 404, 413, 429, 500, 529)
        # 2.1.325 retries 400 once, whatever the header says; in a script `retry: false` is final.
        retry = draft.one_of(None, None, False if status != 400 else None)
        fields = {"retry": False} if retry is False else {"retry_after": 0}
        for _ in range(draft.one_of(1, 1, 2)):
            draft.fail(status, **fields)
    draft.reply(draft.text("It worked after all."))
    draft.turn()
    draft.wait("quiet")
    draft.is_last = True  # the last reply is left over if the turn ended with the error


SLASH = (
    "/cost", "/context", "/compact", "/help", "/clear", "/model", "/unknown", "/hello you",
    "/config", "/usage", "/cost extra words", "/", "/compact keep the names", "/release-notes",
)  # fmt: skip


def slash(draft: Draft) -> None:
    """Slash commands of the CLI and of the project."""
    draft.files["project/.claude/commands/hello.md"] = "Say hello to $ARGUMENTS"
    if draft.chance(0.5):
        draft.reply(draft.text("One."))
        draft.turn()
    command = draft.one_of(*SLASH)
    if command in ("/unknown", "/hello you", "/"):
        draft.reply(draft.text("Hello."))
        draft.is_last = True  # 2.1.38 does not ask the model about an unknown command
    draft.turn(command)
    if draft.chance(0.4):
        draft.reply(draft.text("After."))
        draft.turn()


CONTROLS: tuple[Data, ...] = (
    {"subtype": "set_permission_mode", "mode": "acceptEdits"},
    {"subtype": "set_permission_mode", "mode": "plan"},
    {"subtype": "set_permission_mode", "mode": "default"},
    {"subtype": "set_model", "model": "haiku"},
    {"subtype": "set_model"},
    {"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 2000},
    {"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 0},
    {"subtype": "mcp_status"},
    {"subtype": "initialize"},
    {"subtype": "interrupt"},
    {"subtype": "rewind_files", "user_message_id": "99999999-9999-4999-8999-999999999999"},
    {"subtype": "mcp_reconnect", "serverName": "nobody"},
    {"subtype": "mcp_toggle", "serverName": "nobody", "enabled": False},
    {"subtype": "mcp_set_servers", "servers": {}},
)
UNANSWERED: tuple[Data, ...] = (
    {"subtype": "nonsense"},
    {"subtype": "stop_task", "task_id": "unknown"},
    {"subtype": "set_permission_mode", "mode": "nonsense"},
    {"subtype": "get_settings"},
    {"subtype": "get_context_usage"},
    {"subtype": "get_binary_version"},
    {"subtype": "list_models"},
    {"subtype": "cancel_async_message", "message_uuid": "99999999-9999-4999-8999-999999999999"},
    {"subtype": "get_status"},
    {"subtype": "list_permission_rules"},
    {"subtype": "get_plan"},
    {"subtype": "get_hooks_listing"},
    {"subtype": "get_session_cost"},
    {"subtype": "get_workspace_diff"},
    {"subtype": "file_suggestions", "query": "a"},
    {"subtype": "read_file", "path": "{root}/project/a.txt"},
    {"subtype": "read_file", "path": "{root}/project/missing.txt"},
    {"subtype": "background_tasks"},
    {"subtype": "reload_plugins"},
    {"subtype": "reload_skills"},
    {"subtype": "rename_session", "title": "a title"},
    {"subtype": "generate_session_title", "description": "something"},
    {"subtype": "apply_flag_settings", "settings": {"model": "haiku"}},
    {"subtype": "side_question", "question": "why?"},
    {"subtype": "seed_read_state", "path": "{root}/project/a.txt", "mtime": 0},
    {"subtype": "get_task_output", "task_id": "unknown"},
    {"subtype": "mcp_call", "server": "nobody", "tool": "add", "arguments": {}},
    {"subtype": "set_cwd", "path": "{root}/outside"},
    {"subtype": "end_session"},
    {"subtype": "supported_commands"},
    {"subtype": "list_directory", "path": "{root}"},
)
"""Requests that 2.1.38 may leave without an answer."""


def control(draft: Draft) -> None:
    """Control requests between turns."""
    if draft.chance(0.5):
        draft.reply(draft.text("One."))
        draft.turn()
    draft.files.setdefault("project/a.txt", "one\n")
    for _ in range(draft.one_of(1, 2, 3)):
        if draft.chance(0.4):
            request = draft.one_of(*UNANSWERED)
            draft.step(request=request)
            draft.wait("quiet")
            if request["subtype"] == "end_session":
                draft.is_last = True
                return
        else:
            request = draft.one_of(*CONTROLS)
            draft.step(request=request)
            draft.wait("quiet" if request["subtype"] == "set_permission_mode" else "answered")
    draft.reply(draft.text("Two."))
    draft.turn()


def control_midturn(draft: Draft) -> None:
    """Control requests while a permission request is open or the model is silent."""
    if draft.chance(0.4):
        draft.reply(draft.bash("touch made"), waits=[{"before": 0, "inputs": 1}])
        draft.prompt()
        draft.wait("model init")
        draft.step(request=draft.one_of(*CONTROLS[:9]))
        draft.reply(draft.text())
        draft.wait("result")
        draft.wait("quiet")
        return
    draft.permissions.append("hold")
    draft.reply(draft.bash("touch made"))
    draft.prompt()
    draft.wait("permission")
    draft.step(request=draft.one_of(*CONTROLS[:8], {"subtype": "initialize"}))
    draft.wait("quiet")
    draft.step(answer=draft.one_of("allow", "deny", "error"))
    draft.reply(draft.tool("Write", file_path="{root}/project/b.txt", content="b\n"))
    draft.reply(draft.text())
    draft.wait("result")


def odd_prompt(draft: Draft) -> None:
    """Prompts in unusual forms."""
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": PIXEL},
    }
    draft.files["project/a.txt"] = "one\n"
    draft.reply(draft.text())
    match draft.one_of("image", "empty", "no_uuid", "mention", "string", "fields", "surrogate"):
        case "image":
            draft.step(content=[{"type": "text", "text": "look"}, image])
        case "empty":
            draft.step(content=[])
        case "no_uuid":
            draft.prompt(uuid=False)
        case "mention":
            draft.prompt("look at @a.txt and @missing.txt")
        case "string":
            draft.prompt(fields={"message": {"role": "user", "content": "plain"}})
        case "surrogate":
            draft.prompt("a\ud800b")
        case _:
            draft.prompt(fields={"priority": "later", "extra": 1})
    draft.wait("result")
    if draft.chance(0.3):
        draft.prompt("once", uuid="same")
        draft.reply(draft.text("Once."))
        draft.wait("result")
        draft.prompt("again", uuid="same")
        draft.wait("quiet")


BAD_LINES = (
    "", "not json", "[1]", "null", '{"a": 1}', '{"type": "nonsense"}', '{"type": "keep_alive"}',
    '{"type": "user"}', '{"type": "control_request", "request_id": "x"}',
    '{"type": "control_response", "response": {"subtype": "success", "request_id": "unknown"}}',
    '{"type": "control_cancel_request", "request_id": "x"}',
    '{"type": "update_environment_variables", "variables": {"X": "1"}}',
    '{"type": "user", "message": {"role": "assistant", "content": "x"}}',
)  # fmt: skip


def bad_line(draft: Draft) -> None:
    """A line that no host should write; some of them end the process."""
    draft.step(line=draft.one_of(*BAD_LINES))
    draft.wait("quiet")
    draft.reply(draft.text())
    draft.prompt()
    draft.wait("quiet")
    draft.is_last = True
