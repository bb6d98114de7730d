# SPDX-License-Identifier: BSD-3-Clause
"""A sweep of the engine's settings: a curve a value, a map for two, and nothing where nothing was swept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.benchmarks.synthetic import MB, USUAL, Synthetic
from analysis.evidence import Evidence
from analysis.figures import toolkit
from analysis.figures.sweep import Sweep
from analysis.records.load import load

SIZES = (MB // 4, MB, 4 * MB)


def swept(folder: Path, **settings: tuple[int, ...]) -> Evidence:
    """A session whose launches of adaptive each had one value of every setting."""
    variants = {name: USUAL[name] for name in ("bare", "adaptive")}
    Synthetic(mpis={"mpich": variants}, sizes=SIZES, comp_over_comm=(1.0,), launches=4, samples=5).write(folder)
    for path in sorted((folder / "records").glob("*adaptive.jsonl")):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        turn = lines[0]["header"]["context"]["repetition"]
        values = {name: given[turn % 2 if place else turn // 2] for place, (name, given) in enumerate(settings.items())}
        for line in lines[1:-1]:
            line["point"] |= values
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return Evidence(load([folder], use_cache=False))


def test_one_setting_has_a_curve_a_value_along_the_sizes(tmp_path: Path) -> None:
    (drawn,) = Sweep("overlap-ratio")(swept(tmp_path / "s", burst=(1, 20)), "made up")
    assert drawn.name == "sweep-burst-overlap-ratio-adaptive"
    efficiency = drawn.points[drawn.points["metric"] == "overlap_efficiency"]
    assert sorted(efficiency["burst"].unique()) == [1, 20] and sorted(efficiency["size_bytes"].unique()) == list(SIZES)
    assert efficiency["value"].tolist() == pytest.approx([USUAL["adaptive"].efficiency] * 6, abs=0.05)
    labels = [text.get_text() for text in drawn.figure.legends[0].get_texts()]
    assert labels == ["burst 1", "burst 20"]
    assert toolkit.save(drawn, tmp_path)["png"].stat().st_size > 1000


def test_two_settings_have_a_map_for_each_size(tmp_path: Path) -> None:
    drawn = Sweep("overlap-ratio")(swept(tmp_path / "s", burst=(1, 20), rest_us=(0, 1000)), "made up")
    assert len(drawn) == len(SIZES)
    cells = {(row["burst"], row["rest_us"]) for row in drawn[0].points.to_dict("records")}
    assert cells == {(1, 0), (1, 1000), (20, 0), (20, 1000)}
    assert "size_bytes 256 KB" in drawn[0].caption
    assert toolkit.save(drawn[0], tmp_path)["png"].stat().st_size > 1000


def test_without_a_sweep_there_is_no_figure(tmp_path: Path) -> None:
    Synthetic(launches=2, samples=3).write(tmp_path / "s")
    evidence = Evidence(load([tmp_path / "s"], use_cache=False))
    assert Sweep("overlap-ratio")(evidence, "made up") == []
    assert Sweep("send-time")(evidence, "made up") == []
