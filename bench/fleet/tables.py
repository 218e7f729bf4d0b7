"""The figures of `bench.fleet` as tables. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["added_by_bus", "cost_table", "delay_table", "throughput_table"]

Rows = Sequence[dict[str, Any]]

AIM_MICROS = 45.0
AIM_DELAY_MS = 5.0
AIM_RATIO = 1.6
ALONE, MORE = "one process", "one process, more sockets"


def added_by_bus(rows: Rows) -> tuple[float, float]:
    """Microseconds a line that the bus adds on a node, and what a socket of a session costs.

    A node serves no sockets, so they are subtracted from what one process takes.
    """
    by_way = {row["way"]: row for row in rows}
    alone, more = by_way[ALONE], by_way[MORE]
    sockets = more["sockets_per_session"] - alone["sockets_per_session"]
    socket = (more["micros"]["server"] - alone["micros"]["server"]) / sockets
    base = alone["micros"]["server"] - alone["sockets_per_session"] * socket
    node = next(row["micros"]["node"] for row in rows if "node" in row["micros"])
    return node - base, socket


def cost_table(rows: Rows) -> str:
    """CPU time per line."""
    lines = [
        "| way | sockets of a session | µs of CPU a line, by process | in all |",
        "|---|---:|---|---:|",
    ]
    for row in rows:
        parts = ", ".join(f"{name} {micros:.0f}" for name, micros in row["micros"].items())
        total = sum(row["micros"].values())
        lines.append(f"| {row['way']} | {row['sockets_per_session']:g} | {parts} | {total:.0f} |")
    added, socket = added_by_bus(rows)
    met = "met" if added <= AIM_MICROS else "MISSED"
    lines += [
        "",
        f"The bus adds {added:.0f} µs a line on a node (aim: at most {AIM_MICROS:g}, {met}). A "
        f"socket that it no longer serves costs {socket:.0f} µs a line.",
    ]
    return "\n".join(lines)


def delay_table(rows: Rows) -> str:
    """From a line to its frame."""
    lines = ["| way | line to frame p50, ms | p99, ms | p50 of each round |", "|---|---:|---:|---|"]
    for row in rows:
        each = ", ".join(f"{p50:.1f}" for p50, _ in row["rounds"])
        lines.append(f"| {row['way']} | {row['p50_ms']:.1f} | {row['p99_ms']:.1f} | {each} |")
    alone, *others = (row["p50_ms"] for row in rows)
    added = others[-1] - alone
    met = "met" if added <= AIM_DELAY_MS else "MISSED"
    lines += ["", f"The bus adds {added:.1f} ms at the median (aim: {AIM_DELAY_MS:g} ms, {met})."]
    return "\n".join(lines)


def throughput_table(rows: Rows) -> str:
    """Lines a second at rising paces, and the ratio of what was carried."""
    lines = [
        "| way | lines/s of a session | lines/s in all | µs of CPU a line | cores | by process "
        "| stored intent p50, ms | control p99, ms | MiB | carried |",
        "|---|---:|---:|---:|---:|---|---:|---:|---:|---|",
    ]
    lines += [
        f"| {row['way']} | {row['lines_per_s']:g} | {row['lines_taken_per_s']:,.0f} "
        f"| {row['micros_per_line']:.0f} | {row['cores']:.2f} | {_parts(row)} | {row['intent_p50_ms']:.1f} "
        f"| {row['control_p99_ms']:.0f} | {row['mib']:.0f} "
        f"| {'yes' if row['carried'] else 'no'} |"
        for row in rows
    ]
    best: dict[str, float] = {row["way"]: 0.0 for row in rows}
    for row in rows:
        if row["carried"]:
            best[row["way"]] = max(best[row["way"]], row["lines_taken_per_s"])
    alone = best.get(ALONE, 0.0)
    said = [
        f"{way}: {carried:,.0f} lines/s" + (f" ({carried / alone:.2f}x)" if alone else "")
        for way, carried in best.items()
    ]
    lines += ["", f"Most that was carried: {'; '.join(said)} (aim: {AIM_RATIO:g}x)."]
    return "\n".join(lines)


def _parts(row: dict[str, Any]) -> str:
    return ", ".join(f"{name} {cores:.2f}" for name, cores in row["cores_by_part"].items())
