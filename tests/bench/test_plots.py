"""The figures in one file, and the pictures of them."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from bench import results
from bench.plots import LABEL, VALUE, WIDTH, Bar, chart, draw
from bench.server_load.figures import Figures, Times

SVG = "{http://www.w3.org/2000/svg}"


def test_each_benchmark_replaces_its_own_part(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    assert results.load(file) == {}
    results.save("reading", [1], file)
    results.save("server", {"sessions": 2}, file)
    results.save("reading", [3], file)
    assert results.load(file) == {"reading": [3], "server": {"sessions": 2}}


def test_bars_are_as_long_as_their_figures() -> None:
    picture = chart("Who & how's", "ms", [Bar("a < b", 10.0), Bar("c", 40.0, ours=False)])
    root = ElementTree.fromstring(picture)
    widths = [float(rect.attrib["width"]) for rect in root.iter(f"{SVG}rect")][1:]
    assert widths[1] == WIDTH - LABEL - VALUE
    assert widths[0] * 4 == widths[1]
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts == ["Who & how's", "ms; shorter is better", "a < b", "10", "c", "40"]


def test_a_picture_is_drawn_for_each_part_that_was_measured(tmp_path: Path) -> None:
    assert draw({}, tmp_path) == []
    figures = Figures(sessions=3, sockets=7, lines_per_s=1.0)
    figures.times.append(Times("a stored intent", (0.001, 0.25)))
    figures.times.append(Times("what never happened", ()))
    reading = {
        "traffic": {"name": "text-deltas"},
        "contenders": [{"name": "Fairlead", "micros_per_message": 1.5}],
    }
    paths = draw({"reading": [reading], "server": figures.summary()}, tmp_path)
    assert [path.name for path in paths] == ["bench-reading-text-deltas.svg", "bench-server.svg"]
    cost = {"CPU time per line, µs": 7.5}
    servers = [
        {"name": "Fairlead", "version": "1", "figures": cost},
        {"name": "Other", "version": "2", "figures": {}},
    ]
    [other] = draw({"servers": {"sessions": 3, "lines_per_s": 20.0, "servers": servers}}, tmp_path)
    assert other.name == "bench-servers.svg"
    assert "Fairlead 1" in other.read_text("utf-8")
    assert "Other" not in other.read_text("utf-8")
    assert "1.5" in paths[0].read_text("utf-8")
    server = paths[1].read_text("utf-8")
    assert "3 sessions and 7 sockets" in server
    assert ">250<" in server
    assert "never" not in server
