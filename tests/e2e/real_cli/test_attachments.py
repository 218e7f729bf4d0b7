"""Images and documents in a prompt reach the model unchanged (CLI-1000)."""

from __future__ import annotations

import base64

from fairlead import document, image
from fairlead.wire.blocks import DocumentBlock, ImageBlock
from fairlead.wire.events import Result, User
from tests.e2e.real_cli.cli_harness import PNG, CliHarness, all_of, one_of, play

PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"


async def test_an_image_and_a_document_reach_the_model_with_the_text(harness: CliHarness) -> None:
    """CLI-1000: image blocks and document blocks; the echo of the prompt has them too."""
    picture = harness.project / "p.png"
    picture.write_bytes(PNG)
    async with harness.session() as session:
        messages = await play(
            session, ["What is this?", image(picture), document(PDF, title="A page")]
        )
    assert one_of(Result, messages).ok
    (request,) = harness.model.requests
    blocks = {block["type"]: block for block in request.last_user if block["type"] != "text"}
    assert request.text.startswith("What is this?")
    assert set(blocks) == {"image", "document"}
    assert blocks["image"]["source"]["media_type"] == "image/png"
    assert base64.b64decode(blocks["document"]["source"]["data"]) == PDF
    assert blocks["document"]["title"] == "A page"
    echo = one_of(User, [line for line in all_of(User, messages) if line.is_replay])
    assert not isinstance(echo.message.content, str | None)
    assert len(all_of(ImageBlock, echo.message.content)) == 1
    assert len(all_of(DocumentBlock, echo.message.content)) == 1
