"""The story of one inbox for two machines behind NAT, up to the point where both ask for something."""

from __future__ import annotations

import asyncio
import json
import ssl
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import websockets

from fairlead.fleet.bus.certificates import ensure_certificates
from fairlead.transcript.state.changes import apply
from tests.faults.fault_harness import read_log, scripted_agent
from tests.fleet.stories.networks import GATEWAY_NAME, HOMES, Networks, networks
from tests.fleet.stories.story import Program, Story, documented
from tests.server.conftest import Client
from tests.waiting import until

__all__ = ["BASE", "NatStory", "Phone", "allowed", "asking", "nat_story"]

BASE = f"https://{GATEWAY_NAME}"
WEBSOCKET_PORT = "8443"
PATIENCE_S = 120.0


class NatStory(Story):
    """Runs the commands of the page in the network of their machine, with the page's own names."""

    def __init__(self, folder: Path, net: Networks) -> None:
        super().__init__(folder)
        self.net = net
        self._files = ensure_certificates(folder / "tls", [GATEWAY_NAME])
        self.nodes: dict[str, Program] = {}
        self.link = ""
        """The link for the first device, as the gateway printed it."""

    @property
    def authority(self) -> Path:
        return self._files.authority

    @property
    def certificate(self) -> Path:
        return self._files.certificate

    async def new_link(self) -> str:
        """A link for a further device, with the documented command."""
        program = await self.run("cloud", "fairlead link --data ~/.local/share/fairlead-gateway")
        return (await program.until(rf"({BASE}(:443)?/#code=\S+)"))[1]

    def _substitute(self, word: str) -> str:
        files = {
            "/etc/ssl/agents.pem": str(self._files.certificate),
            "/etc/ssl/agents.key": str(self._files.key),
            "~/.local/share/fairlead-gateway": str(
                self._folder / "cloud" / ".local" / "share" / "fairlead-gateway"
            ),
        }
        return files.get(word, word)

    def _before(self, machine: str) -> list[str]:
        return self.net.inside(machine)

    async def begin(self) -> None:
        """Start the gateway, and have both machines join it and start."""
        gateway, invite, join, node, *_ = documented("One inbox for your own machines")
        cloud = await self.run("cloud", gateway, "--bus-websocket-port", WEBSOCKET_PORT)
        self.link = (await cloud.until(rf"open +({BASE}(:443)?/#code=\S+)"))[1]
        for machine in HOMES:
            inviting = await self.run("cloud", invite)
            link = (await inviting.until(rf"fairlead node join '({BASE}(:443)?/#join=\S+)'"))[1]
            joining = await self.run(machine, join.replace("LINK", link), "--machine-name", machine)
            number = (await joining.until(r"Its number is (\d{6})"))[1]
            assert (await inviting.until(r"must show the number (\d{6})"))[1] == number
            await inviting.say("y")
            assert await inviting.ended() == 0, inviting.printed
            assert await joining.ended() == 0, joining.printed
            home = self._folder / machine
            self.project(machine).mkdir()
            agent = scripted_agent(home, self.log(machine))
            self.nodes[machine] = await self.run(
                machine, node, "--agent", str(agent), "--root", str(home), "--port", "0",
                "--no-browser",
            )  # fmt: skip
            await self.nodes[machine].until(rf"knows this machine as {machine}")

    def project(self, machine: str) -> Path:
        return self._folder / machine / "project"

    def log(self, machine: str) -> Path:
        return self._folder / machine / "agent.log"

    def told(self, machine: str, kind: str) -> list[dict[str, Any]]:
        """What the CLIs of a machine received."""
        return [each for each in read_log(self.log(machine)) if each.get("type") == kind]


class Phone(Client):
    """A client in the network of the phone, which speaks to the gateway over TLS."""

    def __init__(self, story: NatStory) -> None:
        self.story = story
        self.token = ""
        self.id = str(uuid.uuid4())
        self.n = 0
        self._tls = ssl.create_default_context(cafile=str(story.authority))

    async def pair(self) -> None:
        """Use the link that the gateway printed."""
        body = json.dumps({"code": self.story.link.partition("#code=")[2], "name": "phone"})
        raw = await self.story.net.connection("phone", GATEWAY_NAME, 443)
        reader, writer = await asyncio.open_connection(
            sock=raw, ssl=self._tls, server_hostname=GATEWAY_NAME
        )
        writer.write(
            f"POST /api/pair HTTP/1.1\r\nHost: {GATEWAY_NAME}\r\nOrigin: {BASE}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            f"Connection: close\r\n\r\n{body}".encode()
        )
        async with asyncio.timeout(PATIENCE_S):
            answer = (await reader.read()).decode()
        writer.close()
        assert " 200 " in answer.partition("\r\n")[0], answer
        self.token = json.loads(answer.partition("\r\n\r\n")[2])["token"]

    async def connect(self, path: str = "/ws", **hello: Any) -> Phone:
        raw = await self.story.net.connection("phone", GATEWAY_NAME, 443)
        self.socket = await websockets.connect(
            f"wss://{GATEWAY_NAME}{path}",
            sock=raw,
            ssl=self._tls,
            origin=BASE,  # type: ignore[arg-type]
        )
        await self.say(type="hello", protocol=1, token=self.token, client=self.id, **hello)
        return self

    async def new_session_on(self, machine: str, cwd: str, prompt: str) -> str:
        """Start a session on a machine that is here."""
        node = await self.machine(machine, "here")
        self.n += 1
        intent = {"kind": "new_session", "cwd": cwd, "prompt": prompt}
        await self.say(type="intent", n=self.n, node=node, intent=intent)
        made = await self.hear("intent_result", n=self.n)
        assert made["ok"], made
        return str(made["result"]["session"])

    async def send(self, session: str, text: str) -> dict[str, Any]:
        """Send a prompt."""
        return await self.intend("send", session=session, text=text, uuid=str(uuid.uuid4()))

    async def machine(self, name: str, wanted: str) -> str:
        """Wait until a machine has this state; its id."""
        await self.say(type="open", document="lobby")
        state: dict[str, Any] = {}
        async with asyncio.timeout(PATIENCE_S):
            while True:
                message = await self.hear(document="lobby")
                if message["type"] == "snapshot":
                    state = message["state"]
                elif state:  # Earlier changes are of an earlier `open`.
                    state = apply(state, message["changes"])
                for row in state.get("nodes", ()):
                    if (row["name"], row["state"]) == (name, wanted):
                        return str(row["id"])


@asynccontextmanager
async def nat_story(folder: Path) -> AsyncIterator[NatStory]:
    """Both machines have joined and run. The network of the desktop allows HTTPS only."""
    async with networks(folder, only_https=("desktop",)) as net:
        story = NatStory(folder, net)
        try:
            await story.begin()
            yield story
        finally:
            await story.close()


async def allowed(story: NatStory, machine: str) -> None:
    """Wait until the CLI of a machine was told that it may."""
    answers = await until(lambda: story.told(machine, "control_response"), PATIENCE_S)
    assert answers[-1]["response"]["response"]["behavior"] == "allow"


def asking(machine: str, place: int) -> str:
    """A prompt that asks whether a command may run, and then works for three seconds."""
    ask = {"id": f"ask-{machine}-{place}", "input": {"command": f"echo {machine} {place}"}}
    return json.dumps(
        [{"ask": ask}, {"wait": 1}, {"drip": [100, 0.03]}, {"say": f"{machine} did {place}"}]
    )
