# SPDX-License-Identifier: BSD-3-Clause
"""Figures over settings: a curve a value, a map of two settings, the limit beside them; and of one session alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from analysis.evidence import Evidence
from analysis.figures import toolkit
from analysis.figures.overlap import Sweep
from analysis.figures.render import figure_of, save
from analysis.records.load import load
from analysis.tests.synthetic import LIMITED, MB, USUAL, Behaviour, Synthetic, edited

SIZES = (MB // 4, MB, 4 * MB)


def swept(
    folder: Path,
    names: Sequence[str] = ("bare", "adaptive"),
    sizes: Sequence[int] = SIZES,
    ratios: Sequence[float] = (1.0,),
    **settings: tuple[int, ...],
) -> Evidence:
    """A session whose launches of adaptive each had one value of every setting."""
    variants = {name: LIMITED[name] for name in names}
    Synthetic(mpis={"mpich": variants}, sizes=sizes, comp_over_comm=ratios, launches=4, samples=5).write(folder)
    for lines in edited(folder, "*adaptive.jsonl"):
        turn = lines[0]["header"]["context"]["repetition"]
        values = {name: given[turn % 2 if place else turn // 2] for place, (name, given) in enumerate(settings.items())}
        for line in lines[1:-1]:
            line["point"] |= values
    return Evidence(load([folder]))


def test_one_setting_has_a_curve_a_value_along_the_sizes(tmp_path: Path) -> None:
    (drawn,) = Sweep("overlap-ratio")(swept(tmp_path / "s", burst=(1, 20)), "made up")
    assert drawn.name == "sweep-burst-overlap-ratio-adaptive"
    efficiency = drawn.points[drawn.points["metric"] == "overlap_efficiency"]
    assert sorted(efficiency["burst"].unique()) == [1, 20] and sorted(efficiency["size_bytes"].unique()) == list(SIZES)
    assert efficiency["value"].tolist() == pytest.approx([LIMITED["adaptive"].efficiency] * 6, abs=0.05)
    labels = [text.get_text() for text in figure_of(drawn).legends[0].get_texts()]
    assert labels == ["burst 1", "burst 20"]
    assert save(drawn, tmp_path)["png"].stat().st_size > 1000


def test_two_settings_have_a_map_for_each_size(tmp_path: Path) -> None:
    drawn = Sweep("overlap-ratio")(swept(tmp_path / "s", burst=(1, 20), rest_us=(0, 1000)), "made up")
    assert len(drawn) == len(SIZES)
    cells = {(row["burst"], row["rest_us"]) for row in drawn[0].points.to_dict("records")}
    assert cells == {(1, 0), (1, 1000), (20, 0), (20, 1000)}
    assert "size_bytes 256 KB" in drawn[0].caption
    assert save(drawn[0], tmp_path)["png"].stat().st_size > 1000


def test_along_ratios_stand_those_that_were_measured(tmp_path: Path) -> None:
    """The work is that of the MPI that was calibrated: on another one the ratio is another."""
    evidence = swept(tmp_path / "s", sizes=(MB,), ratios=(0.5, 1.0), burst=(1, 20))
    evidence.metrics["comp_over_comm_measured"] *= 1.3
    (drawn,) = Sweep("overlap-ratio")(evidence, "made up")
    assert drawn.plot
    shown = drawn.points[drawn.plot.x].astype(float)
    assert shown.tolist() == pytest.approx((1.3 * drawn.points["comp_over_comm"].astype(float)).tolist(), rel=0.1)
    assert save(drawn, tmp_path)["png"].stat().st_size > 1000


WITH_LIMIT = ("bare", "adaptive", "limit")


def test_the_limit_is_a_line_beside_the_curves_and_every_value_has_its_share_of_it(tmp_path: Path) -> None:
    evidence = swept(tmp_path / "s", WITH_LIMIT, burst=(1, 20))
    frame = evidence.metrics
    efficiency = frame[(frame["variant"] == "adaptive") & (frame["metric"] == "overlap_efficiency")]
    engine = efficiency[efficiency["burst"].notna()]
    assert engine["against_limit_value"].tolist() == pytest.approx([0.93 / 0.95] * 6, abs=0.1)
    (drawn,) = Sweep("overlap-ratio")(evidence, "made up")
    assert sorted(drawn.points["variant"].unique()) == ["adaptive", "limit"]
    labels = [text.get_text() for text in figure_of(drawn).legends[0].get_texts()]
    assert labels == ["burst 1", "burst 20", toolkit.LIMIT_LABEL]
    for axes in figure_of(drawn).axes:
        (line,) = [line for line in axes.lines if line.get_color() == toolkit.LIMIT["color"]]
        assert np.asarray(line.get_xdata()).tolist() == list(SIZES)


def test_the_limit_of_one_point_stands_in_the_caption(tmp_path: Path) -> None:
    (curves,) = Sweep("overlap-ratio")(swept(tmp_path / "s", WITH_LIMIT, (MB,), burst=(1, 20)), "made up")
    (grid,) = Sweep("overlap-ratio")(swept(tmp_path / "m", WITH_LIMIT, (MB,), burst=(1, 20), rest_us=(0, 9)), "made up")
    for drawn in (curves, grid):
        assert "Efficiency of the limit, the same without MPI: MPICH 0.9" in drawn.caption


def test_without_a_sweep_there_is_no_figure(tmp_path: Path) -> None:
    Synthetic(launches=2, samples=3).write(tmp_path / "s")
    evidence = Evidence(load([tmp_path / "s"]))
    assert Sweep("overlap-ratio")(evidence, "made up") == []
    assert Sweep("send-time")(evidence, "made up") == []


def test_a_map_of_two_settings_is_of_one_session(tmp_path: Path) -> None:
    for name, efficiency in (("one", 0.2), ("two", 0.8)):
        variants = {"bare": USUAL["bare"], "adaptive": Behaviour(efficiency)}
        folder = tmp_path / name
        Synthetic(mpis={"mpich": variants}, comp_over_comm=(1.0,), launches=4, samples=5).write(folder)
        for lines in edited(folder, "*adaptive.jsonl"):
            turn = lines[0]["header"]["context"]["repetition"]
            for line in lines[1:-1]:
                line["point"] |= {"burst": (1, 20)[turn % 2], "rest_us": (0, 1000)[turn // 2]}
    records = load([tmp_path / "one", tmp_path / "two"])
    drawn = Sweep("overlap-ratio")(Evidence(records), "made up")
    assert [figure.points["session"].unique().tolist() for figure in drawn] == [["one"], ["two"]]
    assert ["session one" in figure.caption for figure in drawn] == [True, False]
    shown = [float(text.get_text()) for figure in drawn for text in figure_of(figure).axes[0].texts]
    assert shown == pytest.approx([0.2] * 4 + [0.8] * 4, abs=0.05)
