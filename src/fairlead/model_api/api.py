"""A loopback Messages API for the real CLI: scripted answers, every request recorded.

    async with ModelApi([reply("hi"), use("Bash", command="ls")]) as api:
        …                      # start a CLI with ANTHROPIC_BASE_URL=api.base_url
        api.push(reply("more"))
        await api.arrived(2)   # two turn requests are in
        assert api.requests[-1].tool_results[0].text == "a.txt"

`with ModelApi(…) as api` (without `async`) runs it in a thread. From a shell:
`python -m fairlead.model_api.api [--script FILE.json] [--log FILE]` prints the base URL.

Neighbors: `replies` (the content of answers), `script` (which request gets which answer), `gate`
(holding), `exchange` (delivery). Nothing here knows the CLI's own protocol on stdio.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import secrets
import sys
import threading
from collections.abc import Coroutine, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from fairlead.interrupts import end_on_interrupt
from fairlead.model_api.exchange import Exchange, HungUp, answer_other, deliver, or_hang_up
from fairlead.model_api.gate import WAIT_S, Bell
from fairlead.model_api.http_exchange import (
    BadRequest,
    HttpConnection,
    HttpRequest,
    WatchedReader,
)
from fairlead.model_api.json_text import to_json
from fairlead.model_api.replies import Answer, fail
from fairlead.model_api.request import SECRET_HEADERS, ModelRequest
from fairlead.model_api.script import DEFAULT, Answering, Script, Step, load

__all__ = ["ModelApi", "main"]


class ModelApi:
    """A scripted model behind a real socket on 127.0.0.1."""

    def __init__(
        self,
        script: Iterable[Step] = (),
        *,
        default: Answering = DEFAULT,
        tag: str | None = None,
    ) -> None:
        self._script = Script(script, default)
        # Message ids must differ between two APIs that serve one session after the other: a CLI
        # that resumes takes an id it knows for the same message.
        self._tag = secrets.token_hex(3) if tag is None else tag
        self._bell = Bell()
        self._lock = threading.Lock()
        self._exchanges: list[Exchange] = []
        self._script_error: Exception | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._thread: _ServerThread | None = None
        self.base_url = ""
        """`http://127.0.0.1:PORT` while it runs."""

    # The script, and the requests so far.

    def push(self, *steps: Step) -> None:
        """Add answers or rules to the script."""
        self._script.push(*steps)

    @property
    def unused(self) -> tuple[Step, ...]:
        """Steps of the script that no request has used."""
        return self._script.unused()

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """All requests in order, each with its answer and outcome."""
        with self._lock:
            return tuple(self._exchanges)

    @property
    def turns(self) -> tuple[Exchange, ...]:
        """The exchanges that the script answers: those of main conversation and subagents."""
        return tuple(e for e in self.exchanges if e.request.kind == "turn")

    @property
    def requests(self) -> tuple[ModelRequest, ...]:
        """The requests of all turns."""
        return tuple(e.request for e in self.turns)

    @property
    def side_requests(self) -> tuple[ModelRequest, ...]:
        """All other requests: titles, probes, summaries, token counts, connectivity checks."""
        return tuple(e.request for e in self.exchanges if e.request.kind != "turn")

    async def arrived(self, count: int = 1, timeout: float = WAIT_S) -> ModelRequest:
        """Wait until this many turn requests have arrived; returns the last of them."""
        await self._bell.until(lambda: len(self.requests) >= count, timeout)
        return self.requests[count - 1]

    async def recorded(self, count: int, timeout: float | None = WAIT_S) -> Exchange:
        """Wait until this many requests of any kind have arrived; returns the last of them."""
        await self._bell.until(lambda: len(self.exchanges) >= count, timeout)
        return self.exchanges[count - 1]

    def arrived_blocking(self, count: int = 1, timeout: float = WAIT_S) -> ModelRequest:
        """`arrived` for a program without an event loop."""
        self._bell.until_blocking(lambda: len(self.requests) >= count, timeout)
        return self.requests[count - 1]

    async def settled(self, timeout: float = WAIT_S) -> None:
        """Wait until no exchange is open: all are answered, cut or hung up."""
        await self._bell.until(lambda: all(e.outcome != "open" for e in self.exchanges), timeout)

    # Start and stop.

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._protocol, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.base_url = f"http://127.0.0.1:{port}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
        if self._script_error is not None and error is None:
            raise self._script_error

    async def close(self) -> None:
        """Stop listening and drop every connection, also those that are held."""
        assert self._server is not None, "not started"
        self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()

    def __enter__(self) -> Self:
        self._thread = _ServerThread()
        self._thread.call(self.__aenter__())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._thread is not None
        try:
            self._thread.call(self.__aexit__(kind, error, trace))
        finally:
            self._thread.stop()

    # One connection.

    def _protocol(self) -> asyncio.StreamReaderProtocol:
        reader = WatchedReader()

        async def connected(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._connected(reader, writer)

        return asyncio.StreamReaderProtocol(reader, connected)

    async def _connected(self, reader: WatchedReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await self._converse(HttpConnection(reader, writer))
        except (ConnectionError, asyncio.CancelledError):
            # The client has disconnected, or `close` was called: the connection ends.
            pass
        finally:
            self._connections.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _converse(self, connection: HttpConnection) -> None:
        try:
            while (incoming := await connection.read_request()) is not None:
                if not await self._serve(incoming, connection):
                    return
        except BadRequest as error:
            await connection.write_json(400, fail(400, str(error)).body("req_unreadable"))

    async def _serve(self, incoming: HttpRequest, connection: HttpConnection) -> bool:
        """Answer one request; False when the connection cannot be used again."""
        exchange = self._record(incoming)
        try:
            if exchange.request.is_messages:
                answer = self._choose(exchange.request)
                await or_hang_up(deliver(exchange, answer, connection), connection.reader)
            else:
                await answer_other(exchange, connection)
            if exchange.outcome == "open":
                exchange.outcome = "answered"
        except (HungUp, ConnectionError):
            exchange.outcome = "hung up"
        finally:
            self._bell.ring()
        return exchange.outcome == "answered"

    def _record(self, incoming: HttpRequest) -> Exchange:
        headers = {k: v for k, v in incoming.headers.items() if k not in SECRET_HEADERS}
        try:
            body = json.loads(incoming.body or b"{}")
        except ValueError:
            body = None
        with self._lock:
            request = ModelRequest(
                number=len(self._exchanges) + 1,
                method=incoming.method,
                path=incoming.path,
                headers=headers,
                body=body if isinstance(body, dict) else {},
            )
            exchange = Exchange(request=request, tag=self._tag)
            self._exchanges.append(exchange)
        self._bell.ring()
        return exchange

    def _choose(self, request: ModelRequest) -> Answer:
        if not isinstance(request.body.get("messages"), list):
            return fail(400, "messages: a list is required")
        try:
            return self._script.answer(request)
        except Exception as error:  # noqa: BLE001  predicates and answers are the caller's code
            # The CLI reports a 400 at once (CLI-505); `__aexit__` raises the error.
            self._script_error = self._script_error or error
            return fail(400, f"the model script failed: {error!r}")


class _ServerThread:
    """An event loop in a thread, for a program without one."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="model-api", daemon=True
        )
        self._thread.start()

    def call(self, coroutine: Coroutine[Any, Any, object]) -> None:
        asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(WAIT_S)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(WAIT_S)
        self._loop.close()


async def _run(script: Sequence[Step], log: Path | None) -> None:
    async with ModelApi(script) as api:
        sys.stdout.write(f"{api.base_url}\n")
        sys.stdout.flush()
        for number in itertools.count(1):
            exchange = await api.recorded(number, None)
            if log is not None:
                _append(log, exchange.request)


def _append(log: Path, request: ModelRequest) -> None:
    record = {"kind": request.kind, "path": request.path, "body": dict(request.body)}
    with log.open("a", encoding="utf-8") as file:
        file.write(to_json(record) + "\n")


def main(argv: Sequence[str] | None = None) -> None:
    """Run until interrupted; the first line on stdout is the base URL."""
    parser = argparse.ArgumentParser(prog="python -m fairlead.model_api.api")
    parser.add_argument("--script", type=Path, help="a JSON list of steps, see script.load")
    parser.add_argument("--log", type=Path, help="append every request to this file, one per line")
    arguments = parser.parse_args(argv)
    end_on_interrupt()
    script = load(json.loads(arguments.script.read_text("utf-8"))) if arguments.script else []
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_run(script, arguments.log))


if __name__ == "__main__":
    main()
