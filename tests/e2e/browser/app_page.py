"""The page object of the web app: finds controls by the names that a screen reader would read.

    app = await visit(server)
    await app.start("edit")
    await app.decide("Allow once")
    await app.expect_words("Done.")

On every page it records what must never happen: a request to another server, an error on the
console, a refusal by the content policy. `close` fails the test for any of them.
"""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Self

from playwright.async_api import BrowserContext, ConsoleMessage, Locator, Page, Request, expect

from tests.e2e.browser.app_server import AppServer

__all__ = ["PATIENCE_MS", "AppPage"]

PATIENCE_MS = 20_000
"""How long anything may take to show on two busy cores."""

expect.set_options(timeout=PATIENCE_MS)

LOCAL = ("data:", "blob:", "about:")

DIAGRAM = "/diagram.html"
EXPECTED_ERRORS = ("WebSocket connection to", "net::ERR_", "the server responded with a status of")
"""What Chromium itself prints when a test takes the server away or is refused on purpose."""


DENIALS = ("Deny", "Deny and stop", "Skip", "Reject", "Decline", "Close")
"""Buttons whose answer the server holds for some seconds."""

UNTIL_COPIED = """async (wanted) => {
    while ((await navigator.clipboard.readText()) !== wanted) await new Promise(requestAnimationFrame);
}"""


class AppPage:
    """One browser tab that is signed in, with the errors that occurred in it."""

    def __init__(self, server: AppServer, context: BrowserContext, page: Page) -> None:
        self.server = server
        self.context = context
        self.page = page
        self.strangers: list[str] = []
        """Requests that left the server's own origin."""
        self.errors: list[str] = []
        self.origins: set[str] = set()
        """The origins of all documents that it opened."""
        self.access = ""
        """The token for the HTTP API that the page was given last; good while its socket is open."""
        page.on("websocket", lambda socket: socket.on("framereceived", self._note_frame))
        page.on("request", self._note_request)
        page.on("console", self._note_console)
        page.on("pageerror", lambda error: self.errors.append(error.stack or str(error)))

    async def sign_in(self, role: str = "owner") -> Self:
        """Open the app by a launch link, as `fairlead serve` prints it."""
        await self.page.goto(self.server.link(role))
        sessions = self.page.get_by_role("navigation", name="Sessions")
        drawer = self.page.get_by_role("button", name="Sessions", exact=True)  # On a phone.
        await expect(sessions.or_(drawer).first).to_be_visible(timeout=PATIENCE_MS)
        await self.leave_field()
        return self

    async def leave_field(self) -> None:
        """Take the focus out of the prompt of the first page, so that single letters are keys."""
        if self.page.url.rstrip("/") == self.server.base.rstrip("/"):
            home = self.page.get_by_role("region", name="Home")
            await expect(home).to_be_visible(timeout=PATIENCE_MS)
        # It takes the focus when it is drawn, so after two frames it has it.
        await self.page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {"
            " document.activeElement?.blur(); done(); })))"
        )

    async def close(self) -> None:
        """Leave, and say what must not have happened."""
        await self.leave()
        self.check()

    async def leave(self) -> None:
        """Close the page with its context."""
        await self.context.close()

    def check(self) -> None:
        """Say what must not have happened."""
        assert self.strangers == [], f"the page asked other places: {self.strangers}"
        assert self.errors == [], f"the page had errors: {self.errors}"

    # Sessions

    async def open_new_session(self) -> Locator:
        """Open the dialog for a new session with its key."""
        await self.press_outside_fields("n")
        return self.page.get_by_role("dialog", name="New session")

    async def press_outside_fields(self, key: str) -> None:
        """Press a single key while no field has the focus.

        In one step: a page may move the focus into a field between two commands.
        """
        await self.page.evaluate(
            """(key) => {
                document.activeElement?.blur();
                const init = { key, bubbles: true, cancelable: true };
                document.body.dispatchEvent(new KeyboardEvent("keydown", init));
            }""",
            key,
        )

    async def start(self, prompt: str, *, answer: str | None = None, **choices: str) -> None:
        """A new session with its first message, through the dialog; choices by label and value.

        `answer` is the button for a project whose own files make the CLI run something.
        """
        before = self.page.url
        dialog = await self.open_new_session()
        await dialog.get_by_label("First message").fill(prompt)
        for label, choice in choices.items():
            named = re.compile(rf"^{label}\b")
            await self.select(dialog.get_by_role("combobox", name=named), choice)
        await dialog.get_by_role("button", name="Start").click()
        if answer is not None:
            await self.trust_question.get_by_role("button", name=answer).click()
        await expect(self.page).not_to_have_url(before, timeout=PATIENCE_MS)
        await expect(self.composer).to_be_visible(timeout=PATIENCE_MS)

    @property
    def trust_question(self) -> Locator:
        """The question whether what a project's own files run may run."""
        return self.page.get_by_role("dialog", name="This project wants to run programs")

    @property
    def session(self) -> str:
        """The server's id of the session that is open."""
        return self.page.url.rsplit("/", 1)[1]

    async def more(self, choice: str) -> None:
        """Take something from the menu of the session that is open."""
        await self.page.get_by_role("button", name="More", exact=True).click()
        await self.page.get_by_role("menuitem", name=choice).click()

    async def fork(self, here: Locator | None = None) -> None:
        """Fork the session that is open, by a button or by its menu, and go there."""
        before = self.page.url
        await (self.more("Fork") if here is None else here.click())
        dialog = self.page.get_by_role("dialog", name="Fork session")
        await dialog.get_by_role("button", name=re.compile("^Fork")).click()
        await expect(self.page).not_to_have_url(before)

    def listed(self, title: str) -> Locator:
        """A session in the list. Other links there, such as "Board 1 running", do not count."""
        side = self.page.get_by_role("navigation", name="Sessions")
        return side.get_by_role("link", name=title).and_(self.page.locator("[href*='/s/']"))

    @property
    def composer(self) -> Locator:
        """Where a person types."""
        return self.page.get_by_role("textbox", name=re.compile("^Message"))

    @property
    def stop_button(self) -> Locator:
        """Where the button to send is, while the agent works."""
        return self.page.get_by_role("group", name="Message").get_by_role("button", name="Stop")

    async def say(self, text: str) -> None:
        """Type a message and send it with Enter."""
        await self.composer.fill(text)
        await self.composer.press("Enter")

    # What is shown

    @property
    def transcript(self) -> Locator:
        return self.page.get_by_role("log", name="Conversation")

    def card(self, name: str | re.Pattern[str]) -> Locator:
        """What is shown of a tool's use, by the tool and what it was used on."""
        return self.transcript.get_by_role("group", name=name).or_(
            self.transcript.get_by_role("region", name=name)
        )

    async def expect_words(self, words: str | re.Pattern[str]) -> None:
        """Wait until the conversation shows this text."""
        await expect(self.transcript.get_by_text(words).last).to_be_visible(timeout=PATIENCE_MS)

    async def expect_rest(self) -> None:
        """Wait until the agent has nothing to do."""
        await self.expect_state("Your turn")

    async def expect_state(self, words: str | re.Pattern[str]) -> None:
        """Wait for the state next to the session's title."""
        shown = self.page.get_by_role("main").get_by_role("status").filter(has_text=words)
        await expect(shown.first).to_be_visible(timeout=PATIENCE_MS)

    async def expect_copied(self, text: str) -> None:
        """Wait until the clipboard has this text; writing it takes the browser a moment."""
        async with asyncio.timeout(PATIENCE_MS / 1000):
            await self.page.evaluate(UNTIL_COPIED, text)

    async def picture(self, path: Path) -> None:
        """A screenshot, to be looked at."""
        await self.page.screenshot(path=path)

    # What waits for an answer

    @property
    def decision(self) -> Locator:
        """The request that needs the user's answer."""
        return self.page.get_by_role("main").get_by_role("dialog").first

    async def decide(self, button: str) -> None:
        """Press a button of the decision once it is enabled. A denial is confirmed at once."""
        wanted = self.decision.get_by_role("button", name=button, exact=True).first
        await expect(wanted).to_be_enabled(timeout=PATIENCE_MS)
        await wanted.click()
        if button in DENIALS or re.match("Request changes(?!…)", button):
            await self.end_undo()

    async def select(self, menu: Locator, choice: str) -> None:
        """Choose in a select menu, by the value of the option."""
        await expect(menu).to_be_enabled()
        await menu.click()
        await self.page.locator(f'[role=option][data-value="{choice}"]').click()
        await expect(menu).to_have_attribute("aria-expanded", "false")

    @property
    def held(self) -> Locator:
        """An answer that can still be undone."""
        return self.page.get_by_role("group", name="can be undone")

    async def end_undo(self) -> None:
        """Write the answer that the server holds now."""
        await self.held.get_by_role("button", name=re.compile("^(Deny|Send) now")).click()

    # What must never happen

    async def retry_connection(self) -> None:
        """Connect now. The page would retry by itself, only later; if it just did, the button is gone."""
        again = self.page.get_by_role("button", name="Retry now")
        await again.evaluate_all("buttons => buttons.forEach((button) => button.click())")

    def _note_request(self, request: Request) -> None:
        if request.is_navigation_request():
            self.origins.add("/".join(request.url.split("/", 3)[:3]))
        if not request.url.startswith((self.server.base, *LOCAL)):
            self.strangers.append(request.url)

    def _note_frame(self, frame: str | bytes) -> None:
        if isinstance(frame, str) and frame.startswith('{"type":"access"'):
            self.access = str(json.loads(frame)["token"])

    def _note_console(self, message: ConsoleMessage) -> None:
        # The frame that draws diagrams refuses what a diagram tries; that is no error of the page.
        if message.location["url"].endswith(DIAGRAM) and "Content Security Policy" in message.text:
            return
        if message.type == "error" and not any(one in message.text for one in EXPECTED_ERRORS):
            self.errors.append(message.text)
