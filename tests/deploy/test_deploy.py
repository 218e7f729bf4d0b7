"""The Compose file and the Helm chart: linted, rendered by Helm itself, and their commands parsed."""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from fairlead.commands.main import _parser

DEPLOY = Path(__file__).parents[2] / "deploy"
CHART = DEPLOY / "helm" / "fairlead"
NAME = "agents.example.org"

CASES: dict[str, list[str]] = {
    "one gateway": [],
    "two gateways and three nodes": ["gateways.replicas=2", "nodes.replicas=3"],
    "own NATS servers": [
        "gateways.replicas=3",
        "bus.servers={tls://nats-0.nats:4222,tls://nats-1.nats:4222}",
        "bus.caSecret=nats-ca",
        "bus.reload=/opt/reload now",
    ],
    "ingress": ["ingress.enabled=true", "ingress.className=nginx", "ingress.tlsSecret=tls"],
}


def parsed_by(command: list[str]) -> argparse.Namespace:
    """The arguments as the command reads them."""
    return _parser(command).parse_args(command)


def helm(*arguments: str) -> subprocess.CompletedProcess[str]:
    # The wheel is for Linux on x86-64; elsewhere Helm must be installed.
    program = shutil.which("helm", path=str(Path(sys.executable).parent)) or shutil.which("helm")
    assert program is not None, "install Helm 3"
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, timeout=120, check=False
    )


def rendered(case: str) -> list[dict[str, Any]]:
    values = [word for each in (f"name={NAME}", *CASES[case]) for word in ("--set", each)]
    done = helm("template", "team", str(CHART), *values)
    assert done.returncode == 0, done.stderr
    return [each for each in yaml.safe_load_all(done.stdout) if each]


def commands_of(script: str) -> list[list[str]]:
    """The commands of Fairlead in a script of the chart, with `"$@"` as it is set there."""
    joined = script.replace("\\\n", " ")
    found = re.search(r"set -- (.*)", joined)
    common = shlex.split(found[1]) if found else []
    commands = []
    for line in re.findall(r"exec fairlead (.*)", joined):
        words = shlex.split(line.rstrip(" ;"))
        place = words.index("$@") if "$@" in words else None
        if place is not None:
            words[place : place + 1] = common
        commands.append([word.replace("$HOSTNAME", "pod-0") for word in words])
    return commands


def test_N39_the_chart_passes_helms_own_strict_check() -> None:
    done = helm("lint", "--strict", str(CHART), "--set", f"name={NAME}")
    assert done.returncode == 0, done.stdout
    without_name = helm("template", "team", str(CHART))
    assert without_name.returncode != 0
    assert "name" in without_name.stderr
    unknown = helm("template", "team", str(CHART), "--set", "name=a", "--set", "gateways.replica=2")
    assert "Additional property replica" in unknown.stderr


@pytest.mark.parametrize("case", CASES)
def test_N39_what_the_chart_renders_fits_together(case: str) -> None:
    objects = rendered(case)
    sets = [each for each in objects if each["kind"] == "StatefulSet"]
    services = {each["metadata"]["name"]: each for each in objects if each["kind"] == "Service"}
    assert len({(each["kind"], each["metadata"]["name"]) for each in objects}) == len(objects)
    for each in sets:
        spec = each["spec"]
        labels = spec["template"]["metadata"]["labels"]
        assert spec["selector"]["matchLabels"].items() <= labels.items()
        assert services[spec["serviceName"]]["spec"]["selector"].items() <= labels.items()
        pod = spec["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        volumes = {volume["name"] for volume in pod["volumes"]}
        volumes |= {claim["metadata"]["name"] for claim in spec["volumeClaimTemplates"]}
        (container,) = pod["containers"]
        assert {mount["name"] for mount in container["volumeMounts"]} <= volumes
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    for ingress in (each for each in objects if each["kind"] == "Ingress"):
        (path,) = ingress["spec"]["rules"][0]["http"]["paths"]
        assert path["backend"]["service"]["name"] in services


@pytest.mark.parametrize("case", CASES)
def test_N39_the_commands_of_the_chart_exist(case: str) -> None:
    commands = [
        command
        for each in rendered(case)
        if each["kind"] == "StatefulSet"
        for command in commands_of(each["spec"]["template"]["spec"]["containers"][0]["args"][0])
    ]
    assert len(commands) >= 2
    for command in commands:
        parsed = parsed_by(command)
        assert str(parsed.data) == "/data"
    if case == "own NATS servers":
        first = parsed_by(commands[0])
        assert first.bus == ["tls://nats-0.nats:4222", "tls://nats-1.nats:4222"]
        assert (first.bus_reload, first.bus_replicas) == ("/opt/reload now", 3)


def test_N39_the_compose_file_starts_a_gateway_with_options_that_exist() -> None:
    text = (DEPLOY / "compose" / "compose.yaml").read_text()
    text = re.sub(r"\$\{FAIRLEAD_NAME[^}]*\}", NAME, text)
    text = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)
    assert "${" not in text
    content = yaml.safe_load(text)
    (gateway,) = content["services"].values()
    parsed = parsed_by(gateway["command"])
    assert parsed.public_url == f"https://{NAME}"
    published = {int(port.rpartition(":")[2]) for port in gateway["ports"]}
    assert published == {parsed.port, parsed.bus_port, parsed.bus_websocket_port}
    named = {volume.partition(":")[0] for volume in gateway["volumes"]} - {"./tls"}
    assert named == set(content["volumes"])
    assert gateway["read_only"] is True
    assert gateway["cap_drop"] == ["ALL"]
    assert parsed_by(gateway["healthcheck"]["test"][2:])
