"""Changes and a review with the real CLI 2.1.325 under a scripted model."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from fairlead.model_api.replies import reply, use
from tests.e2e.browser.conftest import Visit
from tests.e2e.browser.real_cli_server import Real, real
from tests.git.repositories import new_repository

__all__ = ["real"]

FILES = {
    f"part{number}.txt": "".join(f"p{number} l{n}\n" for n in range(1, 9)) for number in range(5)
}
LINES = {0: (1, 4, 7), 1: (2, 5, 8), 2: (3, 6), 3: (1, 2), 4: (4, 8)}
"""The lines with comments: 12 in 5 files."""


@pytest.mark.matrix(target="conformance", cases=0)
async def test_U92_a_review_of_12_comments_in_5_files_reaches_the_model_whole_and_in_order(
    real: Real, visit: Visit
) -> None:
    there = await real()
    new_repository(there.project, FILES)
    target = str(there.project / "part0.txt")
    there.model.push(
        reply("Ready."),
        use("Read", file_path=target),
        use("Edit", file_path=target, old_string="P0 L4", new_string="better"),
        reply("Reviewed."),
    )
    app = await visit(there.server)
    await app.start("hello", Mode="acceptEdits")
    # The real CLI may take long to start on a busy machine.
    await expect(app.transcript.get_by_text("Ready.").last).to_be_visible(timeout=120_000)
    await app.expect_rest()
    for name in FILES:
        path = there.project / name
        path.write_text(path.read_text().upper())
    await app.more("Changes")
    main = app.page.get_by_role("main")
    expected: list[str] = []
    for number, lines in LINES.items():
        await main.get_by_role("button", name=f"part{number}.txt, modified").click()
        region = main.get_by_role("region", name=f"Lines of part{number}.txt")
        for line in lines:
            text = f"File {number}, line {line}: use `lower` & <less> @shouting /clear"
            await region.get_by_role("button", name=f"Comment on line {line}", exact=True).click()
            await region.get_by_role("textbox", name=f"Comment on line {line}").fill(text)
            await region.get_by_role("button", name="Save comment").click()
            await expect(region.get_by_role("article").filter(has_text=text)).to_be_visible()
            expected.append(
                f"### Comment {len(expected) + 1}: Line {line}\n\n"
                f"```\nP{number} L{line}\n```\n\n{text}"
            )
    await main.get_by_role("button", name="Review (12)").click()
    await main.get_by_role("button", name="Send 12 comments in 5 files").click()
    changed = main.get_by_role("article").filter(has_text="File 0, line 4:")
    await expect(changed).to_contain_text("Lines changed", timeout=120_000)
    unchanged = main.get_by_role("article").filter(has_text="File 1, line 2:")
    await expect(unchanged).to_contain_text("Lines not changed", timeout=120_000)
    texts = [
        block["text"]
        for message in there.model.requests[-1].messages
        if message["role"] == "user" and isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "text" and "Code review" in block["text"]
    ]
    assert len(texts) == 1
    places = [texts[0].index(part) for part in expected]
    assert places == sorted(places)
    assert "Code review: 12 comments in 5 files." in texts[0]
