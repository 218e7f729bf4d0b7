"""What a gateway measures, as Prometheus reads it."""

from __future__ import annotations

import re
from pathlib import Path

from fairlead.fleet.gateway.metrics import IntentMetrics
from tests.fleet.fleet_harness import fleet, text_of

LINE = re.compile(r'[a-z_]+(?:\{[a-z]+="[^"\\\n]*"\})? -?[0-9.]+(?:e-?[0-9]+)?\Z')


def test_N36_intents_are_counted_by_result_and_time() -> None:
    metrics = IntentMetrics()
    for result, seconds in (("ok", 0.004), ("ok", 0.2), ("unavailable", 30.0)):
        metrics.carried_out(result, seconds)
    lines = list(metrics.lines())
    assert 'fairlead_fleet_intents_total{result="ok"} 2' in lines
    assert 'fairlead_fleet_intents_total{result="unavailable"} 1' in lines
    assert 'fairlead_fleet_intent_seconds_bucket{le="0.005"} 1' in lines
    assert 'fairlead_fleet_intent_seconds_bucket{le="0.25"} 2' in lines
    assert 'fairlead_fleet_intent_seconds_bucket{le="+Inf"} 3' in lines
    assert "fairlead_fleet_intent_seconds_count 3" in lines


def test_N36_a_machine_cannot_add_metrics_without_end() -> None:
    metrics = IntentMetrics()
    for number in range(1000):
        metrics.carried_out("x" * (number % 40 + 1), 0.0)
    metrics.carried_out('evil"} 1\nother', 0.0)
    lines = list(metrics.lines())
    assert len(lines) < 60
    assert all(LINE.match(line) or line.startswith("# ") for line in lines)
    assert any(line.startswith('fairlead_fleet_intents_total{result="other"}') for line in lines)


async def test_N36_a_gateway_tells_how_its_machines_are(tmp_path: Path) -> None:
    async with fleet(tmp_path, nodes=2, gateways=1) as team:
        gate = team.gateways[0]
        client = await gate.client()
        session = await client.new_session([{"say": "hello"}])
        await text_of(client, session, "hello")
        headers = {"Authorization": f"Bearer {client.token}"}
        status, body, _ = await gate.http("/api/metrics", **headers)
        assert status == 200
        lines = body.decode().splitlines()
        assert all(LINE.match(line) or line.startswith("# ") for line in lines), lines
        values = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
        assert values["fairlead_fleet_machines_here"] == "2"
        assert values["fairlead_fleet_bus_connected"] == "1"
        assert int(values["fairlead_fleet_snapshots_total"]) >= 1
        assert int(values['fairlead_fleet_intents_total{result="ok"}']) >= 1
        for node in team.nodes:
            age = values[f'fairlead_fleet_beat_age_seconds{{node="{node.id}"}}']
            assert 0 <= float(age) < 60
