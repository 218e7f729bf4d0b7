"""Messages to lines: W44 to W52, W56 and W58 of docs/wire.md.

Rows about lines that end a CLI are proven twice: a recording shows what such a line does, and
nothing that can be built becomes one.
"""

from __future__ import annotations

import json
import re
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.errors import UsageError
from fairlead.wire.blocks import DocumentBlock, ImageBlock, Source, TextBlock, UnknownBlock
from fairlead.wire.encode import decode_input, encode, to_object
from fairlead.wire.events import Assistant, KeepAlive
from fairlead.wire.framing import LineSplitter
from fairlead.wire.inputs import (
    Answer,
    AnswerError,
    ForeignPrompt,
    Input,
    Prompt,
    Request,
    SetEnvironment,
    UnknownInput,
)
from fairlead.wire.json_text import write
from fairlead.wire.system import Init
from fairlead.wire.updates import AddRules, RuleValue
from tests.wire.goldens import FOLDER, golden
from tests.wire.recorded import VERSIONS, exit_code, scenario, stdin
from tests.wire.strategies import LAW, almost_messages, json_values

ID = "5b1f0c9e-7d0a-4a55-9d59-1a4f6f0a2c31"

EXAMPLES: dict[str, Input] = {
    "prompt": Prompt(
        uuid=ID,
        content=(
            TextBlock("What is\u2028this?\n— 😀"),
            ImageBlock(Source(type="base64", media_type="image/png", data="iVBORw0KGgo=")),
            DocumentBlock(
                Source(type="base64", media_type="application/pdf", data="JVBERi0xLjQ="),
                title="a.pdf",
            ),
        ),
        priority="later",
        should_query=False,
    ),
    "request": Request(request_id="r3", subtype="set_permission_mode", fields={"mode": "plan"}),
    "answer": Answer(
        request_id="theirs",
        response={
            "behavior": "allow",
            "updatedInput": {"command": "ls"},
            "updatedPermissions": [
                AddRules(
                    rules=(RuleValue("Bash", "ls *"), RuleValue("Read")),
                    behavior="allow",
                    destination="session",
                )
            ],
            "toolUseID": "toolu_01A2B3C4D5",
        },
    ),
    "answer_error": AnswerError(request_id="theirs", error="Unsupported control request"),
    "set_environment": SetEnvironment({"TIDE": "high"}),
}
NOT_SENT = {"foreign_prompt", "unknown_input"}


def compact(data: Any) -> bytes:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()


def prompt(text: str) -> Prompt:
    return Prompt(uuid=ID, content=(TextBlock(text),))


def ends(version: str, name: str) -> bool:
    """Whether the recorded process died of its input."""
    return exit_code(version, name) == 1


def fatal_lines(version: str, name: str) -> list[bytes]:
    """The lines of a recording that Fairlead would not have written."""
    lines = [e.line for e in scenario(version, name) if e.direction == "in"]
    return [line for line in lines if isinstance(decode_input(line), UnknownInput)]


# Reading and writing


def snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def test_W45_each_thing_a_host_sends_has_an_example() -> None:
    inputs = {snake(member.__name__) for member in get_args(Input)}
    assert inputs == EXAMPLES.keys() | NOT_SENT
    assert {path.stem for path in FOLDER.glob("input.*.json")} == {f"input.{i}" for i in inputs}


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_W45_an_example_is_written_as_its_golden_line(name: str) -> None:
    example = golden(f"input.{name}")
    assert encode(EXAMPLES[name]) == compact(example.line) + b"\n"
    assert example.type == type(EXAMPLES[name]).__name__


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_W58_what_was_written_is_read_as_the_same_value(name: str) -> None:
    line = encode(EXAMPLES[name])
    again = decode_input(line)
    assert type(again) is type(EXAMPLES[name])
    assert encode(again) == line
    if name != "answer":  # in which the permission update comes back as the object it is
        assert again == EXAMPLES[name]


@pytest.mark.parametrize("name", sorted(NOT_SENT))
def test_W58_what_others_wrote_is_kept_and_not_sent(name: str) -> None:
    example = golden(f"input.{name}")
    line = compact(example.line)
    read = decode_input(line)
    assert type(read).__name__ == example.type
    assert isinstance(read, ForeignPrompt | UnknownInput)
    assert read.raw == line
    with pytest.raises(UsageError, match="a host cannot send a"):
        encode(read)


json_fields = st.dictionaries(st.text(max_size=6), json_values(), max_size=3)
prompts = st.builds(
    Prompt,
    uuid=st.uuids().map(str),
    content=st.lists(st.builds(TextBlock, st.text(min_size=1)), min_size=1, max_size=3).map(tuple),
    priority=st.sampled_from([None, "now", "next", "later"]),
    should_query=st.sampled_from([None, True, False]),
    parent_tool_use_id=st.none() | st.text(),
)
ids = st.text(min_size=1, max_size=8)
sendable = (
    prompts
    | st.builds(
        Request,
        request_id=ids,
        subtype=st.sampled_from(["interrupt", "set_model"]),
        fields=json_fields.filter(lambda fields: "subtype" not in fields),
    )
    | st.builds(Answer, request_id=ids, response=json_fields)
    | st.builds(AnswerError, request_id=ids, error=st.text(min_size=1))
    | st.builds(
        SetEnvironment, st.dictionaries(st.text(min_size=1, max_size=5), st.text(), max_size=3)
    )
)


def without_infinity(message: Input) -> bool:
    return "inf" not in repr(msgspec.to_builtins(message))


@given(sendable.filter(without_infinity))
@LAW
def test_W58_anything_a_host_can_send_is_read_as_the_same_value(message: Input) -> None:
    assert decode_input(encode(message)) == message


@given(sendable.filter(without_infinity))
@LAW
def test_W44_anything_a_host_can_send_is_one_line(message: Input) -> None:
    line = encode(message)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert LineSplitter().feed(line) == [line[:-1]]
    assert json.loads(line) == json.loads(json.dumps(to_object(message)))


@pytest.mark.parametrize(
    "text", ["a\nb", "\r\n", "\u2028\u2029", "\0\x1b[31m", "\x85", '"\\', "😀"]
)
def test_W44_no_text_can_break_the_line(text: str) -> None:
    line = encode(prompt(text))
    assert line.splitlines() == [line[:-1]]
    assert json.loads(line)["message"]["content"] == [{"type": "text", "text": text}]


def test_W44_a_prompt_of_two_megabytes_is_one_line() -> None:
    line = encode(prompt("tide\n" * 400_000))
    assert len(line) > 2_000_000
    assert line.count(b"\n") == 1


@given(st.binary(max_size=40) | (json_values() | almost_messages()).map(write))
@LAW
def test_W58_reading_any_line_of_a_recording_never_raises_and_loses_nothing(line: bytes) -> None:
    read = decode_input(line)
    if isinstance(read, UnknownInput | ForeignPrompt):
        assert read.raw == line
    else:
        assert decode_input(write(to_object(read))) == read


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"control_request","request_id":"r","request":["abc"]}',
        b'{"type":"control_request","request_id":"r","request":{"subtype":5}}',
        b'{"type":"control_response","response":{"subtype":"success","request_id":"r","response":1}}',
        b'{"type":"control_response","response":[]}',
        b'{"type":"update_environment_variables","variables":[1]}',
        b'{"type":"user","message":{"role":"user","content":5}}',
        b'{"type":"keep_alive","x":"\xff"}',
        b'{"type":[]}',
        b"[" * 200_000 + b"]" * 200_000,
    ],
)
def test_W58_a_line_that_makes_no_sense_is_kept_with_a_reason(line: bytes) -> None:
    read = decode_input(line)
    assert isinstance(read, UnknownInput)
    assert read.raw == line
    assert read.problem


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ({"type": "user", "message": {"role": "user", "content": "one string"}}, "one string"),
        ({"type": "user", "message": {"role": "user", "content": []}}, ""),
        (
            {"type": "user", "uuid": "no uuid", "message": {"role": "user", "content": "hi"}},
            "hi",
        ),
        (
            {
                "type": "user",
                "uuid": ID,
                "origin": {"kind": "human"},
                "message": {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            },
            "hi",
        ),
    ],
)
def test_W58_a_prompt_in_the_words_of_another_host_is_a_foreign_prompt(
    line: dict[str, Any], text: str
) -> None:
    read = decode_input(write(line))
    assert isinstance(read, ForeignPrompt)
    assert (read.text, read.uuid, read.raw) == (text, line.get("uuid"), write(line))


def test_W58_a_foreign_prompt_keeps_blocks_that_are_not_ours() -> None:
    hologram = {"type": "hologram", "rays": 1}
    read = decode_input(write({"type": "user", "message": {"role": "user", "content": [hologram]}}))
    assert isinstance(read, ForeignPrompt)
    assert read.content == (UnknownBlock(type_name="hologram", data=hologram),)


@pytest.mark.parametrize("version", VERSIONS)
def test_W58_every_line_that_was_written_to_a_real_cli_is_read(version: str) -> None:
    kinds: dict[str, set[str]] = {}
    for entry in stdin(version):
        read = decode_input(entry.line)
        kinds.setdefault(type(read).__name__, set()).add(entry.where.split("/")[1].split(":")[0])
        if not isinstance(read, ForeignPrompt | UnknownInput):
            assert to_object(read) == entry.message, entry.where
    # Only recordings that try out what must not be written hold lines that make no sense.
    assert all(
        name.startswith(("stdin_", "cancel_by_host", "unknown_control"))
        for name in kinds["UnknownInput"]
    )
    assert {"Request", "Answer", "ForeignPrompt"} <= kinds.keys()


# What kills a CLI


@pytest.mark.parametrize(
    "thing",
    [
        None,
        [],
        [{"type": "user"}],
        {},
        {"type": "user", "message": {"role": "user", "content": "hi"}},
        {"type": "control_cancel_request", "request_id": "r"},
        "hello",
        b"{}",
        "",
        5,
        KeepAlive(),
        Assistant(),
        Init(),
        TextBlock("hi"),
        Prompt,
    ],
    ids=repr,
)
def test_W45_nothing_but_an_input_can_be_encoded(thing: Any) -> None:
    with pytest.raises(UsageError, match="a host cannot send a"):
        encode(thing)


@pytest.mark.parametrize("version", VERSIONS)
def test_W46_a_line_that_is_not_json_ends_every_version_and_is_none_of_ours(version: str) -> None:
    assert ends(version, "stdin_bad_json")
    assert fatal_lines(version, "stdin_bad_json") == [b"this is not json"]


@pytest.mark.parametrize("version", ["2.1.38", "2.1.325"])
@pytest.mark.parametrize(
    "name", ["stdin_bad_first", "stdin_json_null", "stdin_no_message", "stdin_role_bad"]
)
def test_W46_null_a_missing_message_and_a_wrong_role_end_a_cli_and_are_none_of_ours(
    version: str, name: str
) -> None:
    assert ends(version, name)
    assert len(fatal_lines(version, name)) == 1


@given(prompts)
@LAW
def test_W46_every_prompt_is_a_user_message_of_role_user(message: Prompt) -> None:
    line = json.loads(encode(message))
    assert line["type"] == "user"
    assert line["message"]["role"] == "user"
    assert line["message"]["content"]


def test_W47_a_blank_line_ends_an_old_cli_and_none_is_written() -> None:
    assert ends("2.1.38", "stdin_blank")
    assert not ends("2.1.325", "stdin_blank")
    assert all(line.strip() == b"" for line in fatal_lines("2.1.38", "stdin_blank"))
    for message in EXAMPLES.values():
        assert b"" not in encode(message).split(b"\n")[:-1]


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("stdin_json_array", b"[1,2]"),
        ("stdin_no_type", None),
        ("stdin_unknown_type", None),
        ("stdin_assistant_in", None),
        ("stdin_system_in", None),
    ],
)
def test_W48_a_list_an_unknown_type_and_a_line_of_the_cli_end_an_old_cli_and_are_none_of_ours(
    name: str, sent: bytes | None
) -> None:
    assert ends("2.1.38", name)
    assert not ends("2.1.325", name)
    (fatal,) = fatal_lines("2.1.38", name)
    assert sent in (None, fatal)


@pytest.mark.parametrize("version", VERSIONS)
def test_W48_only_old_versions_die_of_an_unknown_type(version: str) -> None:
    assert ends(version, "stdin_unknown_type") is (version in ("2.1.29", "2.1.38"))


@pytest.mark.parametrize("version", VERSIONS)
def test_W49_a_cancel_request_of_the_host_ends_old_versions_and_is_none_of_ours(
    version: str,
) -> None:
    assert ends(version, "cancel_by_host") is (version in ("2.1.29", "2.1.38"))
    (fatal,) = fatal_lines(version, "cancel_by_host")
    assert json.loads(fatal)["type"] == "control_cancel_request"


@pytest.mark.parametrize("version", ["2.1.38", "2.1.325"])
def test_W50_environment_variables_harm_no_version_and_can_be_sent(version: str) -> None:
    assert not ends(version, "stdin_env_vars")
    lines = [e.line for e in scenario(version, "stdin_env_vars") if e.direction == "in"]
    assert any(isinstance(decode_input(line), SetEnvironment) for line in lines)


@pytest.mark.parametrize("version", ["2.1.38", "2.1.325"])
def test_W50_keep_alive_harms_no_version_and_is_of_no_use_to_a_host(version: str) -> None:
    assert not ends(version, "stdin_keep_alive")
    (line,) = fatal_lines(version, "stdin_keep_alive")
    assert json.loads(line) == {"type": "keep_alive"}


@pytest.mark.parametrize("version", ["2.1.38", "2.1.325"])
@pytest.mark.parametrize("name", ["stdin_empty_content", "stdin_empty_text"])
def test_W51_an_empty_prompt_harms_no_version_and_is_none_of_ours(version: str, name: str) -> None:
    assert not ends(version, name)
    lines = [e.line for e in scenario(version, name) if e.direction == "in"]
    empty = [r for line in lines if isinstance(r := decode_input(line), ForeignPrompt)]
    assert any(read.text == "" for read in empty)


@pytest.mark.parametrize("version", ["2.1.38", "2.1.325"])
def test_W52_lines_may_be_cut_and_joined_on_the_way(version: str) -> None:
    assert not ends(version, "stdin_split")
    splitter = LineSplitter()
    chunks = [e.line for e in scenario(version, "stdin_split") if e.direction == "in"]
    seen = [decode_input(line) for chunk in chunks[:2] for line in splitter.feed(chunk)]  # type: ignore[arg-type]
    assert [read.text for read in seen if isinstance(read, ForeignPrompt)] == [
        "split",
        "second in the same write",
    ]
    lines = [encode(message) for message in EXAMPLES.values()]
    joined = b"".join(lines)
    halves = LineSplitter()
    middle = len(joined) // 2
    assert halves.feed(joined[:middle]) + halves.feed(joined[middle:]) == [
        line.removesuffix(b"\n") for line in lines
    ]


def test_W53_a_control_request_always_has_its_request_and_its_subtype() -> None:
    line = json.loads(encode(Request(request_id="r", subtype="interrupt")))
    assert line == {
        "type": "control_request",
        "request_id": "r",
        "request": {"subtype": "interrupt"},
    }


def circle() -> dict[str, Any]:
    inside: dict[str, Any] = {}
    inside["again"] = inside
    return inside


def tower() -> list[Any]:
    high: list[Any] = []
    for _ in range(200_000):
        high = [high]
    return high


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        "half \ud83d",
        b"bytes",
        {1, 2},
        object(),
        msgspec.Raw(b"\n\n"),
        msgspec.Raw(b"not json"),
        UnknownBlock("hologram", {}),
        {(1, 2): 3},
        circle(),
        tower(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_W56_a_value_that_is_not_json_is_not_written(value: Any) -> None:
    messages: list[Input] = [
        Answer(request_id="r", response={"updatedInput": {"deep": [value]}}),
        Request(request_id="r", subtype="mcp_call", fields={"arguments": value}),
    ]
    for message in messages:
        with pytest.raises(UsageError, match=r"this \w+ cannot be written as JSON: "):
            encode(message)


def test_W56_half_a_surrogate_pair_in_a_prompt_or_an_id_is_not_written() -> None:
    wrong: list[Input] = [
        prompt("half \ud83d"),
        AnswerError(request_id="\udfff", error="no"),
        AnswerError(request_id="r", error="\udfff"),
        SetEnvironment({"TIDE": "\ud800"}),
    ]
    for message in wrong:
        with pytest.raises(UsageError, match="surrogates not allowed"):
            encode(message)
