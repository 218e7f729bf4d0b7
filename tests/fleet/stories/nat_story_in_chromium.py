"""The story of two machines behind NAT with a phone-sized Chromium, and a cut of a minute."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import re
import shlex
import sys
import time
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from playwright.async_api import Page, async_playwright, expect

from tests.e2e.browser.chromium import ARGUMENTS, HOW, find
from tests.fleet.stories.nat_story import BASE, NatStory, Phone, allowed, asking
from tests.launching import executable

CUT_S = 60.0
__all__ = ["in_chromium"]

PATIENCE_MS = 60_000

ALLOW = re.compile("^Allow once")


def _browser_of_the_phone(story: NatStory, folder: Path) -> Path:
    """Chromium in the network of the phone, as an executable file."""
    path = find()
    assert path is not None, HOW
    words = shlex.join([*story.net.inside("phone"), path])
    return executable(folder / "chromium-on-phone", f'exec {words} "$@"')


def _key_hash(certificate: Path) -> str:
    key = x509.load_pem_x509_certificate(certificate.read_bytes()).public_key()
    content = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(hashlib.sha256(content).digest()).decode()


async def _ask(phone: Phone, story: NatStory, machine: str) -> str:
    """A session on a machine that asks whether it may run a command."""
    made = await phone.new_session_on(machine, str(story.project(machine)), asking(machine, 1))
    await phone.pending(made)
    return made


async def in_chromium(story: NatStory, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Approve a command on each machine, and cut the laptop off."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=_browser_of_the_phone(story, folder),
            args=[
                *ARGUMENTS,
                f"--ignore-certificate-errors-spki-list={_key_hash(story.certificate)}",
            ],
        )
        context = await browser.new_context(
            viewport={"width": 390, "height": 844}, has_touch=True, reduced_motion="reduce"
        )
        page = await context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        client = Phone(story)
        await client.pair()
        await client.connect()
        await page.goto(await story.new_link())
        sessions = {name: await _ask(client, story, name) for name in ("laptop", "desktop")}
        await page.goto(f"{BASE}/inbox")
        for _ in sessions:
            await page.get_by_role("button", name=ALLOW).first.click()
        for machine in sessions:
            await allowed(story, machine)
        await _cut_off(page, story, sessions["laptop"], capsys)
        await context.close()
        await browser.close()
        await client.socket.close()


async def _cut_off(
    page: Page, story: NatStory, session: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Cut the laptop off, and see that it is away, that it worked on, and that it can be used again."""
    began = time.monotonic()
    await story.net.cut("laptop")
    await page.goto(f"{BASE}/machines")
    card = page.get_by_role("article", name="laptop")
    await expect(card).to_contain_text("Away for", timeout=PATIENCE_MS)
    shown = time.monotonic() - began
    await expect(page.get_by_role("article", name="desktop")).to_contain_text("Online")
    await asyncio.sleep(max(CUT_S - shown, 0.0))  # That is the fault.
    await story.net.mend("laptop")
    restored = time.monotonic()
    await expect(card).to_contain_text("Online", timeout=PATIENCE_MS)
    back = time.monotonic() - restored
    await page.goto(f"{BASE}/s/{session}")
    log = page.get_by_role("log", name="Conversation")
    await expect(log).to_contain_text("laptop did 1", timeout=PATIENCE_MS)
    message = page.get_by_role("textbox", name=re.compile("^Message"))
    await expect(message).to_be_enabled(timeout=PATIENCE_MS)
    await message.fill(asking("laptop", 2))
    await message.press("Control+Enter")
    await page.get_by_role("button", name=ALLOW).first.click()
    await expect(log).to_contain_text("laptop did 2", timeout=PATIENCE_MS)
    assert len(story.told("laptop", "user")) == 2
    with capsys.disabled():
        sys.stdout.write(
            f"\nfleet behind NAT: a machine without network was shown as away after {shown:.1f} s, and "
            f"as online {back:.1f} s after its network was back ({CUT_S:.0f} s later); "
            f"load {os.getloadavg()[0]:.1f}\n"
        )
