"""The official Python SDK reads one turn: `python -m bench.run_python_sdk AGENT [--kinds]`.

Runs in an environment of its own that has the SDK (see `peers`) and has no Fairlead.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter

from bench.measurement import Measurement, peak_rss

__all__ = ["main"]

WIRE_TYPES = {
    "AssistantMessage": "assistant",
    "ResultMessage": "result",
    "StreamEvent": "stream_event",
    "UserMessage": "user",
}
"""The SDK's messages by the `type` they had on the wire; all others are `system`."""


def main(arguments: list[str]) -> None:
    """Run once and tell."""
    agent, *flags = arguments
    began = time.process_time()
    from claude_agent_sdk import (  # type: ignore[import-not-found]
        ClaudeAgentOptions,
        ClaudeSDKClient,
    )

    import_s = time.process_time() - began

    async def run() -> Measurement:
        kinds: Counter[str] = Counter()
        messages = 0
        options = ClaudeAgentOptions(cli_path=agent, include_partial_messages=True)
        async with ClaudeSDKClient(options) as client:
            began = time.process_time()
            await client.query("go")
            if "--kinds" in flags:
                async for message in client.receive_response():
                    kinds[WIRE_TYPES.get(type(message).__name__, "system")] += 1
            else:
                async for _ in client.receive_response():
                    messages += 1
            cpu_s = time.process_time() - began
        return Measurement(
            messages=messages or kinds.total(),
            cpu_s=cpu_s,
            import_s=import_s,
            peak_rss=peak_rss(),
            kinds=dict(kinds) or None,
        )

    asyncio.run(run()).write()


if __name__ == "__main__":
    main(sys.argv[1:])
