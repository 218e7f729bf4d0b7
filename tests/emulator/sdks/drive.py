"""Drives a CLI with the official Python SDK and prints the outcome: `drive.py CLI PROJECT`.

Runs in an environment of its own that has the SDK and has no Fairlead. Each step is a function;
what it gives is printed as one JSON object, which is the same for the emulator and the real CLI.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from claude_agent_sdk import (  # type: ignore[import-not-found]
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
    create_sdk_mcp_server,
    query,
    tool,
)

CLI, PROJECT = sys.argv[1:3]


def options(**more: Any) -> Any:
    return ClaudeAgentOptions(cli_path=CLI, cwd=PROJECT, setting_sources=[], **more)


async def turn(client: Any, prompt: str) -> tuple[list[str], Any]:
    await client.query(prompt)
    texts: list[str] = []
    result = None
    async for message in client.receive_response():
        if isinstance(message, AssistantMessage):
            texts += [block.text for block in message.content if hasattr(block, "text")]
        if isinstance(message, ResultMessage):
            result = message
    return texts, result


async def plain_query() -> dict[str, Any]:
    texts: list[str] = []
    session = None
    async for message in query(prompt="say hello", options=options()):
        if isinstance(message, AssistantMessage):
            texts += [block.text for block in message.content if hasattr(block, "text")]
        if isinstance(message, ResultMessage):
            session = message.session_id
    return {"texts": texts, "session": session}


async def streaming_input() -> dict[str, Any]:
    async with ClaudeSDKClient(options()) as client:
        first, _ = await turn(client, "say hello")
        second, result = await turn(client, "say goodbye")
    return {"first": first, "second": second, "subtype": result.subtype}


async def permissions() -> dict[str, Any]:
    asked: list[str] = []

    async def decide(name: str, given: dict[str, Any], context: Any) -> Any:
        asked.append(name)
        if given.get("file_path", "").endswith("no.txt"):
            return PermissionResultDeny(message="not that one")
        return PermissionResultAllow(updated_input=given)

    async with ClaudeSDKClient(options(can_use_tool=decide)) as client:
        allowed, _ = await turn(client, "write one")
        denied, result = await turn(client, "write no")
    return {"asked": asked, "texts": allowed + denied, "denials": len(result.permission_denials)}


async def hooks() -> dict[str, Any]:
    seen: list[str] = []

    async def before(given: dict[str, Any], tool_use_id: str, context: Any) -> Any:
        seen.append(given["hook_event_name"])
        return {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": "the hook says no",
            }
        }

    matcher = {"PreToolUse": [HookMatcher(matcher="Write", hooks=[before])]}
    async with ClaudeSDKClient(options(hooks=matcher)) as client:
        texts, _ = await turn(client, "write two")
    return {"seen": seen, "texts": texts}


async def own_tools() -> dict[str, Any]:
    called: list[Any] = []

    @tool("add", "Adds two numbers", {"a": float, "b": float})
    async def add(given: dict[str, Any]) -> dict[str, Any]:
        called.append(given)
        return {"content": [{"type": "text", "text": str(given["a"] + given["b"])}]}

    server = create_sdk_mcp_server(name="calc", version="1.0.0", tools=[add])
    more = {"mcp_servers": {"calc": server}, "allowed_tools": ["mcp__calc__add"]}
    async with ClaudeSDKClient(options(**more)) as client:
        await connected(client)
        texts, _ = await turn(client, "add numbers")
    return {"called": called, "texts": texts}


async def connected(client: Any) -> None:
    """Wait for the server: 2.1.38 greets it again with the first prompt, under the same ids.

    The SDK refuses an id that is still open, and the real 2.1.38 then goes without the server.
    """
    for _ in range(1000):
        status = await client.get_mcp_status()
        if [server["status"] for server in status["mcpServers"]] == ["connected"]:
            return
        await asyncio.sleep(0.02)
    raise TimeoutError("the server was never connected")


async def started() -> None:
    """Wait for the command to run: an interrupt just before it does may end the turn well."""
    for _ in range(1000):
        if (Path(PROJECT) / "started").exists():
            return
        await asyncio.sleep(0.02)
    raise TimeoutError("the command never ran")


async def interrupt() -> dict[str, Any]:
    async with ClaudeSDKClient(options(allowed_tools=["Bash"])) as client:
        await client.query("take long")
        async for message in client.receive_messages():
            if isinstance(message, AssistantMessage):
                break
        await started()
        await client.interrupt()
        interrupted = None
        async for message in client.receive_response():
            if isinstance(message, ResultMessage):
                interrupted = message.subtype
        after, _ = await turn(client, "say hello")
    return {"interrupted": interrupted, "after": after}


async def resume_and_fork(session: str) -> dict[str, Any]:
    async with ClaudeSDKClient(options(resume=session)) as client:
        _, resumed = await turn(client, "say hello")
    async with ClaudeSDKClient(options(resume=session, fork_session=True)) as client:
        _, forked = await turn(client, "say hello")
    return {"same": resumed.session_id == session, "new": forked.session_id != session}


async def controls() -> dict[str, Any]:
    async with ClaudeSDKClient(options()) as client:
        await client.set_model("haiku")
        await client.set_permission_mode("acceptEdits")
        texts, result = await turn(client, "write three")
        info = await client.get_server_info()
    models = list(result.model_usage or {})
    return {"texts": texts, "haiku": "haiku" in models[0], "has_commands": bool(info["commands"])}


async def main() -> None:
    reported: dict[str, Any] = {"query": await plain_query()}
    session = reported["query"].pop("session")
    reported["streaming"] = await streaming_input()
    reported["permissions"] = await permissions()
    reported["hooks"] = await hooks()
    reported["tools"] = await own_tools()
    reported["interrupt"] = await interrupt()
    reported["sessions"] = await resume_and_fork(session)
    reported["controls"] = await controls()
    sys.stdout.write(json.dumps(reported) + "\n")


asyncio.run(main())
