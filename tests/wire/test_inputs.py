"""What a host can send, and what it cannot even build: W51 and W53 to W55 of docs/wire.md."""

from __future__ import annotations

from typing import Any

import pytest

from fairlead.errors import UsageError
from fairlead.wire.blocks import (
    Block,
    DocumentBlock,
    ImageBlock,
    Source,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UnknownBlock,
)
from fairlead.wire.inputs import (
    IMAGE_MEDIA_TYPES,
    PRIORITIES,
    Answer,
    AnswerError,
    Prompt,
    Request,
    SetEnvironment,
    is_uuid,
)

ID = "5b1f0c9e-7d0a-4a55-9d59-1a4f6f0a2c31"
HELLO = (TextBlock("hello"),)


def prompt(**changes: Any) -> Prompt:
    return Prompt(**{"uuid": ID, "content": HELLO, **changes})


@pytest.mark.parametrize("content", [(), [], None, "", 0])
def test_W51_a_prompt_without_content_cannot_be_built(content: Any) -> None:
    with pytest.raises(UsageError, match="one or more blocks"):
        prompt(content=content)


@pytest.mark.parametrize("text", ["", None, 5, b"bytes"])
def test_W51_a_prompt_with_an_empty_text_cannot_be_built(text: Any) -> None:
    with pytest.raises(UsageError, match="empty text"):
        prompt(content=(TextBlock("fine"), TextBlock(text)))


@pytest.mark.parametrize("request_id", ["", None, 5, b"r"])
def test_W53_a_control_message_without_an_id_cannot_be_built(request_id: Any) -> None:
    with pytest.raises(UsageError, match="needs a request id"):
        Request(request_id=request_id, subtype="interrupt")
    with pytest.raises(UsageError, match="needs a request id"):
        Answer(request_id=request_id, response={})
    with pytest.raises(UsageError, match="needs a request id"):
        AnswerError(request_id=request_id, error="no")


@pytest.mark.parametrize("subtype", ["", None, 5, "Set Mode", "set-mode", "set_mode\n", "ünder"])
def test_W53_a_control_request_without_a_subtype_cannot_be_built(subtype: Any) -> None:
    with pytest.raises(UsageError, match="subtype in snake case"):
        Request(request_id="r", subtype=subtype)


@pytest.mark.parametrize("fields", [None, [], "mode", {1: 2}, {"a": 1, None: 2}])
def test_W53_the_fields_of_a_request_and_an_answer_are_objects(fields: Any) -> None:
    with pytest.raises(UsageError, match="must be an object"):
        Request(request_id="r", subtype="interrupt", fields=fields)
    with pytest.raises(UsageError, match="must be an object"):
        Answer(request_id="r", response=fields)


def test_W53_the_fields_of_a_request_cannot_change_its_subtype() -> None:
    with pytest.raises(UsageError, match="not one of its fields"):
        Request(request_id="r", subtype="interrupt", fields={"subtype": "end_session"})


@pytest.mark.parametrize("error", ["", None, 5])
def test_W53_an_error_answer_without_a_text_cannot_be_built(error: Any) -> None:
    with pytest.raises(UsageError, match="what went wrong"):
        AnswerError(request_id="r", error=error)


@pytest.mark.parametrize(
    "block",
    [
        ToolResultBlock(tool_use_id="t", content="done"),
        ToolUseBlock(id="t", name="Bash", input={}),
        ThinkingBlock("hm"),
        UnknownBlock("hologram", {"type": "hologram"}),
        "hello",
        {"type": "text", "text": "hello"},
        None,
    ],
    ids=lambda block: type(block).__name__,
)
def test_W54_a_prompt_holds_text_images_and_documents_only(block: Any) -> None:
    with pytest.raises(UsageError, match="contains text, images and documents, not"):
        prompt(content=(*HELLO, block))


@pytest.mark.parametrize(
    "source",
    [
        None,
        "a.png",
        Source(),
        Source(type="base64", media_type="image/png"),
        Source(type="base64", data="eA=="),
        Source(type="url"),
        Source(type="url", data="eA=="),
        Source(type="file", url="https://example.org/"),
        Source(type="carrier pigeon", data="eA=="),
        Source(type="base64", media_type="image/png", data=b"eA=="),  # type: ignore[arg-type]
        Source(type="base64", media_type="image/bmp", data="eA=="),
        Source(type="text", media_type="text/plain", data="a picture"),
    ],
    ids=repr,
)
def test_W54_an_image_without_a_complete_source_cannot_be_built(source: Any) -> None:
    with pytest.raises(UsageError, match="image"):
        prompt(content=(ImageBlock(source),))


@pytest.mark.parametrize("source", [None, Source(), Source(type="text", data="words"), "a.pdf"])
def test_W54_a_document_without_a_complete_source_cannot_be_built(source: Any) -> None:
    with pytest.raises(UsageError, match="document"):
        prompt(content=(DocumentBlock(source),))


@pytest.mark.parametrize(
    "block",
    [
        *(ImageBlock(Source(type="base64", media_type=m, data="eA==")) for m in IMAGE_MEDIA_TYPES),
        ImageBlock(Source(type="url", url="https://example.org/a.png")),
        ImageBlock(Source(type="file", file_id="file_1")),
        DocumentBlock(Source(type="base64", media_type="application/pdf", data="eA==")),
        DocumentBlock(Source(type="text", media_type="text/plain", data="words"), title="a.txt"),
        DocumentBlock(Source(type="url", url="https://example.org/a.pdf")),
    ],
    ids=repr,
)
def test_W54_complete_images_and_documents_are_fine(block: Block) -> None:
    assert prompt(content=(*HELLO, block)).text == "hello"


@pytest.mark.parametrize(
    "uuid",
    [
        "",
        None,
        5,
        "1",
        ID[:-1],
        ID + "0",
        ID.replace("-", ""),
        f"{{{ID}}}",
        ID + "\n",
        f"x{ID[1:]}",
    ],
)
def test_W55_a_prompt_without_a_uuid_cannot_be_built(uuid: Any) -> None:
    assert not is_uuid(uuid)
    with pytest.raises(UsageError, match="needs a UUID"):
        prompt(uuid=uuid)


def test_W55_a_uuid_of_either_case_is_fine() -> None:
    assert prompt(uuid=ID).uuid == ID
    assert prompt(uuid=ID.upper()).uuid == ID.upper()


def test_the_priority_of_a_prompt_is_one_the_cli_knows() -> None:
    assert [prompt(priority=p).priority for p in PRIORITIES] == ["now", "next", "later"]
    for wrong in ("soon", "", 5):
        with pytest.raises(UsageError, match="is not one of now, next, later"):
            prompt(priority=wrong)


def test_the_other_fields_of_a_prompt_are_checked_too() -> None:
    for wrong in ("no", 1, 0):
        with pytest.raises(UsageError, match="should_query"):
            prompt(should_query=wrong)
    with pytest.raises(UsageError, match="parent_tool_use_id"):
        prompt(parent_tool_use_id=5)


@pytest.mark.parametrize("variables", [None, [], {"": "x"}, {"A": None}, {"A": 1}, {1: "x"}])
def test_environment_variables_are_texts_with_names(variables: Any) -> None:
    with pytest.raises(UsageError):
        SetEnvironment(variables)


def test_what_is_built_cannot_be_changed() -> None:
    built = prompt()
    with pytest.raises(AttributeError):
        built.uuid = ID  # type: ignore[misc]
