"""A `fairlead serve` with one idle session, which writes the modules that it has loaded to a file and ends.

python -m tests.server.memory.idle_server FOLDER AGENT
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fairlead.commands.main import _parser

folder = Path(sys.argv[1])
argv = ["serve", "--no-browser", "--agent", sys.argv[2]]
argv += ["--data", str(folder / "data"), "--root", str(folder)]
options = _parser(argv).parse_args(argv)  # First: it defers modules and loads the command.

from fairlead.commands import serve  # noqa: E402
from fairlead.server.protocol.intents import NewSession  # noqa: E402
from fairlead.server.service import Service  # noqa: E402
from fairlead.store.tables.devices import Device  # noqa: E402

OWNER = Device(id="desk", name="desk", role="owner", token_hash="", created=0.0)
IDLE_S = 0.5
"""How long the session may take to do what it does after its start."""


@asynccontextmanager
async def one_session(service: Service) -> AsyncIterator[None]:
    async def run() -> None:
        result = await service.registry.act(OWNER, "client", 1, NewSession(cwd=sys.argv[1]))
        await asyncio.sleep(IDLE_S)
        if result.ok:
            # The stand-in of a module that is not loaded has no specification.
            modules = [name for name, each in sys.modules.items() if vars(each).get("__spec__")]
            file = Path(sys.argv[1], "modules")
            await asyncio.to_thread(file.write_text, "\n".join(sorted(modules)))
        service.stop()

    running = asyncio.create_task(run())
    yield
    await running


if __name__ == "__main__":
    sys.exit(serve.run(options, one_session))
