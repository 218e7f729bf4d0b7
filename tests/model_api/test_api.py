"""The scripted model API over real sockets, seen from a client that is not the CLI."""

from __future__ import annotations

import asyncio
import http.client
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor as Pool
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from fairlead.model_api.api import ModelApi
from fairlead.model_api.gate import Gate
from fairlead.model_api.replies import (
    ERROR_TYPES,
    Reply,
    ToolUse,
    Usage,
    fail,
    refuse,
    reply,
    thinking,
    tool,
    use,
)
from fairlead.model_api.request import ModelRequest
from fairlead.model_api.script import when

TIMEOUT_S = 20

Json = dict[str, Any]


@pytest.fixture
def api() -> Iterator[ModelApi]:
    with ModelApi(tag="t") as running:
        yield running


@pytest.fixture
def pool() -> Iterator[Pool]:
    with Pool(8) as threads:
        yield threads


def connect(api: ModelApi) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(urlsplit(api.base_url).netloc, timeout=TIMEOUT_S)


def ask(api: ModelApi, text: str = "hi", *, path: str = "/v1/messages", **fields: Any) -> Answered:
    body = {
        "model": "claude-test",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": text}],
        **fields,
    }
    return send(api, "POST", path, body)


def send(api: ModelApi, method: str, path: str, body: Any = None) -> Answered:
    with closing(connect(api)) as connection:
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        headers = {"x-api-key": "sk-secret", "Authorization": "Bearer secret", "X-App": "test"}
        connection.request(method, path, data, headers)
        response = connection.getresponse()
        return Answered(response.status, dict(response.getheaders()), response.read())


class Answered:
    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self) -> Json:
        value: Json = json.loads(self.body)
        return value

    @property
    def text(self) -> str:
        return "".join(block["text"] for block in self.json["content"] if block["type"] == "text")

    @property
    def events(self) -> list[Json]:
        return parse_sse(self.body)


def parse_sse(body: bytes) -> list[Json]:
    events = []
    for frame in body.decode().split("\n\n"):
        if frame:
            name, data = frame.split("\n")
            event = json.loads(data.removeprefix("data: "))
            assert name == f"event: {event['type']}"
            events.append(event)
    return events


class TestStreaming:
    def test_a_text_is_streamed_as_events_of_the_messages_api_in_order(self, api: ModelApi) -> None:
        api.push(reply("Hello there, you!").but(delta_chars=8))
        answered = ask(api, stream=True)
        assert answered.status == 200
        assert answered.headers["content-type"].startswith("text/event-stream")
        assert [event["type"] for event in answered.events] == [
            "message_start",
            "ping",
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
        deltas = [e["delta"] for e in answered.events if e["type"] == "content_block_delta"]
        assert [delta["text"] for delta in deltas] == ["Hello th", "ere, you", "!"]

    def test_the_start_names_the_message_and_the_model_and_the_end_has_the_usage(
        self, api: ModelApi
    ) -> None:
        api.push(reply("ok").but(usage=Usage(input_tokens=7, output_tokens=3)))
        events = ask(api, stream=True).events
        message = events[0]["message"]
        assert (message["id"], message["model"], message["content"]) == (
            "msg_t0001",
            "claude-test",
            [],
        )
        assert message["usage"]["input_tokens"] == 7
        assert message["usage"]["output_tokens"] == 1
        assert events[-2]["usage"]["output_tokens"] == 3
        assert events[-2]["delta"] == {"stop_reason": "end_turn", "stop_sequence": None}

    def test_thinking_text_and_parallel_tools_are_blocks_of_one_message(
        self, api: ModelApi
    ) -> None:
        api.push(
            reply(
                thinking("hm", signature="sig"),
                "I look.",
                tool("Bash", command="ls"),
                ToolUse(name="Read", input={"file_path": "ä"}, id="toolu_mine"),
            )
        )
        events = ask(api, stream=True).events
        starts = [e["content_block"] for e in events if e["type"] == "content_block_start"]
        assert [block["type"] for block in starts] == ["thinking", "text", "tool_use", "tool_use"]
        assert [block["id"] for block in starts[2:]] == ["toolu_t0001_2", "toolu_mine"]
        signatures = [e["delta"] for e in events if e.get("delta", {}).get("signature")]
        assert signatures == [{"type": "signature_delta", "signature": "sig"}]
        assert joined_input(events, index=2) == {"command": "ls"}
        assert joined_input(events, index=3) == {"file_path": "ä"}
        assert events[-2]["delta"]["stop_reason"] == "tool_use"

    @pytest.mark.parametrize("stop_reason", ["max_tokens", "pause_turn", "stop_sequence"])
    def test_a_stop_reason_of_the_script_is_passed_on(
        self, api: ModelApi, stop_reason: str
    ) -> None:
        api.push(reply("cut sh").but(stop_reason=stop_reason))
        assert ask(api, stream=True).events[-2]["delta"]["stop_reason"] == stop_reason

    def test_a_refusal_has_its_stop_reason(self, api: ModelApi) -> None:
        api.push(refuse(explanation="no"))
        end = ask(api, stream=True).events[-2]["delta"]
        assert end["stop_reason"] == "refusal"
        assert end["stop_details"]["explanation"] == "no"

    def test_a_cut_reply_ends_in_the_middle_without_the_end_of_the_response(
        self, api: ModelApi
    ) -> None:
        api.push(reply("one two three").but(delta_chars=4, cut_after=2))
        with closing(connect(api)) as connection:
            body = {"messages": [], "stream": True}
            connection.request("POST", "/v1/messages", json.dumps(body))
            response = connection.getresponse()
            with pytest.raises(http.client.IncompleteRead) as caught:
                response.read()
        texts = [e["delta"]["text"] for e in parse_sse(caught.value.partial) if "delta" in e]
        assert texts == ["one ", "two "]
        assert outcomes(api) == ["cut"]

    def test_delays_apply_and_change_nothing_else(self, api: ModelApi) -> None:
        api.push(reply("abcd").but(delta_chars=1, delay=0.01, delta_delay=0.001))
        events = ask(api, stream=True).events
        assert "".join(
            e["delta"]["text"] for e in events if e["type"] == "content_block_delta"
        ) == ("abcd")

    def test_one_connection_serves_one_request_after_the_other(self, api: ModelApi) -> None:
        api.push(reply("first"), reply("second"))
        with closing(connect(api)) as connection:
            got = []
            for _ in range(2):
                body = {"messages": [], "stream": True}
                connection.request("POST", "/v1/messages", json.dumps(body))
                got.append(parse_sse(connection.getresponse().read())[3]["delta"]["text"])
        assert got == ["first", "second"]


def joined_input(events: list[Json], index: int) -> Json:
    deltas = [
        e["delta"] for e in events if e["type"] == "content_block_delta" and e["index"] == index
    ]
    value: Json = json.loads("".join(delta["partial_json"] for delta in deltas))
    return value


class TestWithoutStreaming:
    def test_the_fallback_gets_the_whole_message_as_one_object(self, api: ModelApi) -> None:
        api.push(reply(thinking("hm"), "I look.", tool("Bash", command="ls")))
        message = ask(api).json
        assert message["type"] == "message"
        assert [block["type"] for block in message["content"]] == ["thinking", "text", "tool_use"]
        assert message["content"][2]["input"] == {"command": "ls"}
        assert message["stop_reason"] == "tool_use"
        assert message["usage"]["output_tokens"] == 42

    def test_a_cut_reply_closes_the_connection_unanswered(self, api: ModelApi) -> None:
        api.push(reply("never").but(cut_after=0))
        with pytest.raises(http.client.RemoteDisconnected):
            ask(api)


class TestFailures:
    @pytest.mark.parametrize(("status", "kind"), ERROR_TYPES.items())
    def test_an_error_has_the_status_and_the_body_of_the_api(
        self, api: ModelApi, status: int, kind: str
    ) -> None:
        api.push(fail(status, "no luck"))
        answered = ask(api, stream=True)
        assert answered.status == status
        assert answered.json == {
            "type": "error",
            "error": {"type": kind, "message": "no luck"},
            "request_id": "req_t0001",
        }

    def test_a_retry_is_asked_for_or_forbidden_by_headers(self, api: ModelApi) -> None:
        api.push(fail(429, retry_after=0.5), fail(529, retry=False))
        assert ask(api).headers["retry-after"] == "0.5"
        assert ask(api).headers["x-should-retry"] == "false"

    def test_a_failure_can_be_held_too(self, api: ModelApi, pool: Pool) -> None:
        gate = Gate()
        api.push(fail(500).but(hold=gate))
        answered = pool.submit(ask, api)
        gate.reached_blocking(timeout=TIMEOUT_S)
        gate.open()
        assert answered.result(TIMEOUT_S).status == 500


class TestOtherPaths:
    @pytest.mark.parametrize("path", ["/", "/api/hello"])
    def test_a_check_for_connectivity_is_answered(self, api: ModelApi, path: str) -> None:
        assert send(api, "HEAD", path).status == 200
        assert send(api, "GET", path).json

    def test_tokens_are_counted_and_more_text_counts_more(self, api: ModelApi) -> None:
        path = "/v1/messages/count_tokens?beta=true"
        few = ask(api, "a", path=path).json["input_tokens"]
        many = ask(api, "a" * 4000, path=path).json["input_tokens"]
        assert many - few == pytest.approx(1000, abs=2)

    @pytest.mark.parametrize(
        ("method", "path"), [("GET", "/v1/messages"), ("POST", "/nope"), ("PUT", "/")]
    )
    def test_anything_else_is_not_found(self, api: ModelApi, method: str, path: str) -> None:
        answered = send(api, method, path, {})
        assert answered.status == 404
        assert answered.json["error"]["type"] == "not_found_error"

    @pytest.mark.parametrize("body", [b"not json", b"[1]", b"{}", b""])
    def test_a_body_without_messages_is_refused(self, api: ModelApi, body: bytes) -> None:
        answered = send(api, "POST", "/v1/messages", body)
        assert answered.status == 400
        assert answered.json["error"]["type"] == "invalid_request_error"

    def test_a_chunked_body_is_read(self, api: ModelApi) -> None:
        with closing(connect(api)) as connection:
            parts = [b'{"messages": [{"role": "user", ', b'"content": "in chunks"}]}']
            connection.request("POST", "/v1/messages", iter(parts), encode_chunked=True)
            assert connection.getresponse().status == 200
        assert api.requests[0].text == "in chunks"

    def test_a_request_sent_before_the_answer_to_the_last_is_not_lost(self, api: ModelApi) -> None:
        api.push(reply("first").but(delay=0.01), reply("second"))
        body = b'{"messages": []}'
        head = (
            b"POST /v1/messages HTTP/1.1\r\nhost: x\r\nconnection: %b\r\ncontent-length: %d\r\n\r\n"
        )
        with closing(connect(api)) as connection:
            connection.connect()
            first, last = head % (b"keep-alive", len(body)), head % (b"close", len(body))
            connection.sock.sendall(first + body + last + body)
            got = b"".join(iter(lambda: connection.sock.recv(65536), b""))
        assert got.index(b"first") < got.index(b"second")

    def test_invalid_bytes_are_answered_and_do_not_affect_other_clients(
        self, api: ModelApi
    ) -> None:
        with closing(connect(api)) as connection:
            connection.connect()
            connection.sock.sendall(b"\x16\x03\x01 what\r\n\r\n")
            assert b"400" in connection.sock.recv(100)
        assert ask(api).status == 200


class TestScript:
    def test_answers_come_in_order_and_then_the_default(self, api: ModelApi) -> None:
        api.push(reply("one"), reply("two"))
        assert [ask(api).text for _ in range(4)] == ["one", "two", "Done.", "Done."]

    def test_the_default_can_be_chosen(self) -> None:
        with ModelApi(default=reply("Later.")) as api:
            assert ask(api).text == "Later."

    def test_a_rule_answers_what_it_matches_and_leaves_the_queue_alone(self, api: ModelApi) -> None:
        api.push(reply("queue"), when(reply("sunny"), text="weather"))
        assert ask(api, "how is the weather?").text == "sunny"
        assert ask(api, "how is the weather?").text == "queue"

    def test_a_rule_can_hold_without_end(self, api: ModelApi) -> None:
        api.push(when(reply("sunny"), text="weather", times=None))
        assert [ask(api, "weather").text for _ in range(3)] == ["sunny"] * 3

    def test_rules_match_model_system_prompt_and_tool_results(self, api: ModelApi) -> None:
        results = [
            {"type": "tool_result", "tool_use_id": "t1", "content": "a.txt", "is_error": True}
        ]
        api.push(
            when(reply("by model"), model="haiku"),
            when(reply("by system"), system="You search files"),
            when(reply("by result"), tool_result="a.txt"),
            when(reply("no result"), tool_result=False, text="plain"),
            when(reply("by predicate"), that=lambda request: request.tools == ("Bash",)),
        )
        assert ask(api, model="claude-haiku-9").text == "by model"
        assert ask(api, system=[{"type": "text", "text": "You search files."}]).text == "by system"
        assert ask(api, messages=[{"role": "user", "content": results}]).text == "by result"
        assert ask(api, "plain").text == "no result"
        assert ask(api, tools=[{"name": "Bash"}]).text == "by predicate"
        assert api.unused == ()

    def test_an_answer_can_be_made_from_the_request(self, api: ModelApi) -> None:
        def echo(request: ModelRequest) -> Reply:
            return reply(f"you said {request.text}")

        api.push(echo)
        assert ask(api, "boo").text == "you said boo"

    def test_unused_steps_are_reported(self, api: ModelApi) -> None:
        spare, rule = use("Bash", command="ls"), when(reply("x"), text="never")
        api.push(reply("one"), spare, rule)
        ask(api)
        assert api.unused == (spare, rule)

    def test_a_script_that_fails_answers_400_and_raises_at_the_end(self) -> None:
        def broken(request: ModelRequest) -> bool:
            raise LookupError("my predicate")

        api = ModelApi([when(reply("x"), that=broken)])
        api.__enter__()
        assert ask(api).status == 400
        with pytest.raises(LookupError, match="my predicate"):
            api.__exit__(None, None, None)


class TestRecord:
    def test_requests_are_recorded_without_their_secrets(self, api: ModelApi) -> None:
        ask(api, "hi", path="/v1/messages?beta=true", stream=True)
        request = api.requests[0]
        assert (request.number, request.method, request.model) == (1, "POST", "claude-test")
        assert request.stream
        assert request.body["messages"] == [{"role": "user", "content": "hi"}]
        assert request.headers["x-app"] == "test"
        assert "secret" not in repr(request)

    def test_the_text_is_what_the_user_wrote_and_not_what_the_cli_added(
        self, api: ModelApi
    ) -> None:
        output = [
            {"type": "text", "text": "<system-reminder>\nmind this\n</system-reminder>"},
            {"type": "text", "text": "hello"},
        ]
        later = {"role": "system", "content": [{"type": "text", "text": "# Environment"}]}
        ask(api, messages=[{"role": "user", "content": output}, later])
        assert api.requests[0].text == "hello"

    def test_tool_results_are_read_whatever_their_form(self, api: ModelApi) -> None:
        blocks = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
        results = [
            {"type": "tool_result", "tool_use_id": "t1", "content": blocks},
            {"type": "tool_result", "tool_use_id": "t2", "content": "no", "is_error": True},
            {"type": "tool_result", "tool_use_id": "t3"},
        ]
        ask(api, messages=[{"role": "user", "content": results}])
        got = [(r.tool_use_id, r.text, r.is_error) for r in api.requests[0].tool_results]
        assert got == [("t1", "a\nb", False), ("t2", "no", True), ("t3", "", False)]

    def test_side_requests_are_separate_and_take_nothing_from_the_script(
        self, api: ModelApi
    ) -> None:
        api.push(reply("mine"))
        ask(api, "Hi", max_tokens=1)
        send(api, "HEAD", "/")
        assert ask(api, "hello").text == "mine"
        assert [request.kind for request in api.side_requests] == ["probe", "other"]
        assert [request.text for request in api.requests] == ["hello"]

    def test_a_rule_may_answer_a_side_request(self, api: ModelApi) -> None:
        api.push(when(fail(404, "no such model"), kind="probe"))
        assert ask(api, "Hi", max_tokens=1).status == 404


class TestHolding:
    async def test_a_held_reply_waits_for_its_gate(self) -> None:
        gate = Gate()
        async with ModelApi([reply("at last").but(hold=gate)]) as api:
            asking = asyncio.create_task(asyncio.to_thread(ask, api))
            await gate.reached(timeout=TIMEOUT_S)
            assert outcomes(api) == ["open"]
            assert not asking.done()
            gate.open()
            assert (await asking).text == "at last"
            await api.settled()
            assert outcomes(api) == ["answered"]

    async def test_a_stream_can_be_held_in_the_middle(self) -> None:
        gate = Gate()
        script = [reply("one two").but(delta_chars=4, hold=gate, hold_after=1)]
        async with ModelApi(script) as api:
            reader, writer = await open_stream(api)
            before = await reader.readuntil(b'"one "}}\n\n')
            await gate.reached(timeout=TIMEOUT_S)
            assert b"two" not in before
            gate.open()
            assert b"two" in await reader.readuntil(b"message_stop")
            writer.close()
            await writer.wait_closed()

    async def test_a_client_that_disconnects_while_held_is_noticed(self) -> None:
        gate = Gate()
        async with ModelApi([reply("never").but(hold=gate)]) as api:
            _, writer = await open_stream(api)
            await gate.reached(timeout=TIMEOUT_S)
            writer.close()
            await writer.wait_closed()
            await api.settled(timeout=TIMEOUT_S)
            assert outcomes(api) == ["hung up"]

    async def test_closing_drops_held_connections(self) -> None:
        gate = Gate()
        async with ModelApi([reply("never").but(hold=gate)]) as api:
            reader, writer = await open_stream(api)
            await gate.reached(timeout=TIMEOUT_S)
        assert await asyncio.wait_for(reader.read(), TIMEOUT_S) == b""
        writer.close()
        await writer.wait_closed()

    async def test_an_open_gate_holds_no_request(self) -> None:
        gate = Gate()
        gate.open()
        async with ModelApi([reply("at once").but(hold=gate)]) as api:
            assert (await asyncio.to_thread(ask, api)).text == "at once"
        assert gate.is_open
        assert gate.arrivals == 1

    async def test_a_test_can_wait_for_the_nth_request(self) -> None:
        async with ModelApi() as api:
            asking = asyncio.create_task(asyncio.to_thread(lambda: (ask(api, "a"), ask(api, "b"))))
            assert (await api.arrived(2, timeout=TIMEOUT_S)).text == "b"
            await asking

    async def test_waiting_for_a_missing_request_times_out(self) -> None:
        async with ModelApi() as api:
            with pytest.raises(TimeoutError):
                await api.arrived(timeout=0.01)


def outcomes(api: ModelApi) -> list[str]:
    return [exchange.outcome for exchange in api.exchanges]


async def open_stream(api: ModelApi) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    address = urlsplit(api.base_url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    body = json.dumps({"messages": [], "stream": True}).encode()
    writer.write(
        b"POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
    )
    return reader, writer


class TestInAThread:
    def test_a_program_without_asyncio_can_hold_and_open(self, api: ModelApi, pool: Pool) -> None:
        gate = Gate()
        api.push(reply("at last").but(hold=gate))
        answered = pool.submit(ask, api)
        gate.reached_blocking(timeout=TIMEOUT_S)
        assert api.arrived_blocking(timeout=TIMEOUT_S).text == "hi"
        gate.open()
        assert answered.result(TIMEOUT_S).text == "at last"

    def test_a_wait_without_an_event_times_out(self, api: ModelApi) -> None:
        with pytest.raises(TimeoutError):
            api.arrived_blocking(timeout=0.01)

    def test_many_clients_at_once_each_get_one_answer(self, api: ModelApi, pool: Pool) -> None:
        api.push(*(reply(str(number)) for number in range(20)))
        pending = [pool.submit(lambda: ask(api, stream=True).events[3]) for _ in range(20)]
        texts = {answered.result(TIMEOUT_S)["delta"]["text"] for answered in pending}
        assert texts == {str(number) for number in range(20)}
        assert len({exchange.message_id for exchange in api.exchanges}) == 20


class TestAsAProgram:
    def test_the_program_prints_its_url_serves_a_script_and_logs_the_requests(
        self, tmp_path: Path
    ) -> None:
        script, log = tmp_path / "script.json", tmp_path / "requests.ndjson"
        script.write_text(json.dumps(SCRIPT))
        with running_program("--script", str(script), "--log", str(log)) as url:
            api = ModelApi()
            api.base_url = url
            first, second, third = ask(api), ask(api), ask(api)
            assert ask(api, "the weather?").text == "sunny"
            assert ask(api).text == "Done."
        assert first.text == "hi"
        assert first.json["usage"]["input_tokens"] == 5
        assert [block["type"] for block in second.json["content"]] == [
            "thinking",
            "text",
            "tool_use",
        ]
        assert (third.status, third.headers["retry-after"]) == (429, "1")
        logged = [json.loads(line) for line in log.read_text().splitlines()]
        assert [record["kind"] for record in logged[:3]] == ["turn"] * 3
        assert "secret" not in log.read_text()


SCRIPT = [
    {"text": "hi", "usage": {"input_tokens": 5}, "delta_chars": 1},
    {
        "blocks": [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "name": "Bash", "input": {"command": "ls"}},
        ]
    },
    {"error": 429, "message": "slow down", "retry_after": 1},
    {"text": "sunny", "when": {"text": "weather"}},
]


@contextmanager
def running_program(*arguments: str) -> Iterator[str]:
    command = [sys.executable, "-m", "fairlead.model_api.api", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(TIMEOUT_S) == 0
