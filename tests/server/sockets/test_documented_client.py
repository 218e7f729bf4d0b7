"""The client of docs/server.md, run exactly as it is printed."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path

from tests.server.conftest import Served

DOCUMENT = Path(__file__).parents[3] / "docs" / "server.md"

ASK = [{"ask": {"id": "ask-1", "tool": "Bash", "input": {"command": "make"}}}, {"wait": 1}]


async def test_thirty_lines_start_a_session_approve_a_tool_and_print_the_answer(
    served: Served, tmp_path: Path
) -> None:
    found = re.search(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert found is not None
    script = tmp_path / "client.py"
    script.write_text(found[1])
    assert len(found[1].strip().splitlines()) <= 36
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        str(script),
        served.service.launch_link(),
        json.dumps(ASK),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(30):
        output, complaint = await child.communicate()
    assert child.returncode == 0, complaint.decode()
    assert output.decode() == "done\n"
