"""The benchmark itself: its traffic is a CLI's, its flood loses nothing, its sums are right.

Says nothing about speed, and needs no SDK.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from bench import report, rounds, traffic
from bench.flood import VERSION
from bench.measurement import Measurement
from bench.peers import CONTENDERS, SDK_PACKAGE, Contender
from bench.rounds import RunFailed, Runs
from bench.traffic import Traffic
from fairlead.wire.decode import decode_lines, misfits
from fairlead.wire.events import StreamEvent, User
from fairlead.wire.stream import ContentBlockDelta, TextDelta

BENCH = Path(traffic.__file__).parent
CHILD_TIMEOUT_S = 60.0


@pytest.fixture
def deltas(tmp_path: Path) -> Traffic:
    return traffic.write("text-deltas", traffic.text_deltas(300), tmp_path)


@pytest.fixture
def session(tmp_path: Path) -> Traffic:
    return traffic.write("agent-session", traffic.agent_session(8), tmp_path)


@pytest.fixture(params=["deltas", "session"])
def either(request: pytest.FixtureRequest) -> Traffic:
    found: Traffic = request.getfixturevalue(request.param)
    return found


def lines_of(one: Traffic) -> list[bytes]:
    return one.path.read_bytes().splitlines()


def fairlead_contender(name: str, tmp_path: Path) -> Contender:
    return CONTENDERS[name](tmp_path, lambda text: None)


def test_every_line_of_the_traffic_is_one_that_fairlead_knows(either: Traffic) -> None:
    assert {line: misfits(line) for line in lines_of(either) if misfits(line)} == {}


def test_the_traffic_is_as_long_as_it_says(either: Traffic) -> None:
    lines = lines_of(either)
    assert either.messages == len(lines) == sum(either.kinds.values())
    assert either.size == sum(len(line) + 1 for line in lines)


def test_the_same_traffic_is_written_each_time(deltas: Traffic, tmp_path: Path) -> None:
    again = tmp_path / "again"
    again.mkdir()
    written = traffic.write("text-deltas", traffic.text_deltas(300), again)
    assert written.path.read_bytes() == deltas.path.read_bytes()


def test_text_deltas_are_as_many_as_asked_for_and_about_300_bytes_long(deltas: Traffic) -> None:
    found = [
        message
        for message in decode_lines([*lines_of(deltas)])
        if isinstance(message, StreamEvent)
        and isinstance(message.event, ContentBlockDelta)
        and isinstance(message.event.delta, TextDelta)
    ]
    assert len(found) == 300
    assert 285 <= sum(len(entry.raw) for entry in found) / len(found) <= 315


def test_every_step_of_a_session_brings_a_tool_result_of_12_kb(session: Traffic) -> None:
    results = [entry for entry in decode_lines([*lines_of(session)]) if isinstance(entry, User)]
    assert len(results) == 8
    assert all(len(json.dumps(result.tool_use_result)) >= 12 * 1024 for result in results)
    assert all(result.message.content for result in results)


def test_a_traffic_begins_with_an_init_and_ends_with_a_result(either: Traffic) -> None:
    first, *_, last = (json.loads(line) for line in lines_of(either))
    assert (first["type"], first["subtype"]) == ("system", "init")
    assert (last["type"], last["subtype"]) == ("result", "success")


def test_the_flood_reports_the_version_of_the_cli_it_replaces(deltas: Traffic) -> None:
    agent = rounds.make_agent(deltas)
    said = subprocess.run(
        [agent, "--version"], capture_output=True, text=True, timeout=CHILD_TIMEOUT_S
    )
    assert said.stdout.startswith(VERSION)


def test_the_flood_answers_and_then_pours_the_file_once(deltas: Traffic) -> None:
    agent = rounds.make_agent(deltas)
    request = {"type": "control_request", "request_id": "r1", "request": {"subtype": "initialize"}}
    prompt = {"type": "user", "message": {"role": "user", "content": "go"}}
    heard = "".join(json.dumps(line) + "\n" for line in (request, prompt, prompt))
    said = subprocess.run(
        [agent, "--output-format", "stream-json"],
        input=heard.encode(),
        capture_output=True,
        timeout=CHILD_TIMEOUT_S,
    )
    answer, _, poured = said.stdout.partition(b"\n")
    assert json.loads(answer)["response"]["request_id"] == "r1"
    assert json.loads(answer)["response"]["subtype"] == "success"
    assert poured == deltas.path.read_bytes()


@pytest.mark.matrix(target="faults", cases=1)
@pytest.mark.parametrize("name", ["fairlead", "fairlead-transcript"])
def test_fairlead_delivers_every_message(name: str, either: Traffic, tmp_path: Path) -> None:
    contender = fairlead_contender(name, tmp_path)
    agent = rounds.make_agent(either)
    seen = rounds.run(contender, agent, "--kinds")
    timed = rounds.run(contender, agent)
    assert seen.kinds == either.kinds
    assert timed.messages == either.messages
    assert timed.cpu_s > 0
    assert timed.peak_rss > 0


def test_a_contender_that_breaks_down_is_reported_with_its_words(tmp_path: Path) -> None:
    contender = fairlead_contender("fairlead", tmp_path)
    with pytest.raises(RunFailed, match="AgentNotFound"):
        rounds.run(contender, tmp_path / "no-such-agent")


def test_a_run_that_lost_messages_is_not_counted(tmp_path: Path) -> None:
    contender = fairlead_contender("fairlead", tmp_path)
    with pytest.raises(RunFailed, match="delivered 9 messages, 10 before"):
        rounds.check_counts([contender], [_told(10, 1.0)], [_told(9, 1.0)])


def test_the_report_gives_medians_ratios_and_what_was_dropped(tmp_path: Path) -> None:
    poured = Traffic(
        name="mixed", path=tmp_path, messages=10, size=1000, kinds={"user": 4, "result": 6}
    )
    ours = _runs(poured, "Fairlead", {"user": 4, "result": 6}, (10e-6, 30e-6, 20e-6))
    peer = _runs(poured, "Python SDK", {"user": 1, "result": 6}, (100e-6, 100e-6, 900e-6))
    rows = report.table([ours, peer]).splitlines()[-2:]
    assert rows == [
        "| Fairlead 1.0, Python | 2.00 | 1.00 - 3.00 | 1.00x | 500 | 1 | all |",
        "| Python SDK 1.0, Python | 10.00 | 10.00 - 90.00 | 5.00x | 500 | 1 | not 3 user |",
    ]
    assert report.verdicts([ours, peer]) == (
        "mixed: Fairlead takes 0.20x the time of the Python SDK (aim: at most 0.10x, MISSED)."
    )
    assert report.as_data([ours, peer])["contenders"][1]["missing"] == {"user": 3}


def test_the_sdks_are_pinned_and_no_registry_is_named() -> None:
    pins = (BENCH / "requirements.txt").read_text("utf-8")
    lock = (BENCH / "package-lock.json").read_text("utf-8")
    package = json.loads((BENCH / "package.json").read_text("utf-8"))
    locked = json.loads(lock)["packages"][f"node_modules/{SDK_PACKAGE}"]
    assert "\nclaude-agent-sdk==0.2.182 " in pins
    assert package["dependencies"] == {SDK_PACKAGE: "0.3.325"}
    assert locked["version"] == "0.3.325"
    assert '"resolved"' not in lock
    assert "://" not in pins + (BENCH / "requirements-build.txt").read_text("utf-8")


def _told(messages: int, cpu_s: float, kinds: dict[str, int] | None = None) -> Measurement:
    return Measurement(messages=messages, cpu_s=cpu_s, import_s=0.5, peak_rss=2**20, kinds=kinds)


def _runs(poured: Traffic, name: str, kinds: dict[str, int], seconds: tuple[float, ...]) -> Runs:
    contender = Contender(name=name, version="1.0", runtime="Python", start=())
    timed = tuple(_told(sum(kinds.values()), second) for second in seconds)
    return Runs(contender, poured, _told(sum(kinds.values()), 1.0, kinds), timed)
