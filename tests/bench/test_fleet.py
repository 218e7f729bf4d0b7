"""The tables of the benchmark of a fleet; `python -m bench.fleet --quick` tries the rest."""

from __future__ import annotations

from bench.fleet.tables import added_by_bus, cost_table, delay_table, throughput_table

COST = [
    {"way": "one process", "sockets_per_session": 1.0, "micros": {"server": 150.0}},
    {"way": "2 workers", "sockets_per_session": 1.0, "micros": {"server": 90.0, "workers": 140.0}},
    {
        "way": "1 node and a gateway",
        "sockets_per_session": 1.0,
        "micros": {"node": 160.0, "gateway": 100.0, "nats-server": 20.0},
    },
    {"way": "one process, more sockets", "sockets_per_session": 3.0, "micros": {"server": 190.0}},
]


def test_the_sockets_of_one_process_are_not_counted_for_the_bus() -> None:
    assert added_by_bus(COST) == (30.0, 20.0)
    assert "The bus adds 30 µs a line on a node (aim: at most 45, met)." in cost_table(COST)


def test_the_delay_of_the_bus_is_that_of_the_last_way() -> None:
    rows = [
        {"way": way, "p50_ms": p50, "p99_ms": 2 * p50, "rounds": [(p50, 2 * p50)]}
        for way, p50 in (("one process", 3.0), ("2 workers", 5.0), ("1 node and a gateway", 9.0))
    ]
    assert "The bus adds 6.0 ms at the median (aim: 5 ms, MISSED)." in delay_table(rows)


def test_the_ratio_is_of_the_lines_that_were_carried() -> None:
    def row(way: str, taken: float, *, carried: bool) -> dict[str, object]:
        figures = dict.fromkeys(("micros_per_line", "cores", "intent_p50_ms", "mib"), 1.0)
        more: dict[str, object] = {
            "lines_per_s": 10.0,
            "lines_taken_per_s": taken,
            "control_p99_ms": 9.0,
        }
        more["cores_by_part"] = {"server": 0.2, "workers": 0.3}
        return {"way": way, **figures, **more, "carried": carried}

    rows = [
        row("one process", 600.0, carried=True),
        row("one process", 900.0, carried=False),
        row("2 workers", 900.0, carried=True),
    ]
    text = throughput_table(rows)
    assert "| server 0.20, workers 0.30 |" in text
    assert "one process: 600 lines/s (1.00x); 2 workers: 900 lines/s (1.50x)" in text
