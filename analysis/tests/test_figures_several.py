# SPDX-License-Identifier: BSD-3-Clause
"""Figures of several sessions, and of cells without a number: nothing is left out that they do not say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes

from analysis.catalogue import draw_all
from analysis.evidence import Evidence
from analysis.figures.runtime import Runtime
from analysis.figures.sweep import Sweep
from analysis.figures.toolkit import Drawn
from analysis.records import frames
from analysis.records.load import load
from analysis.tests.synthetic import MB, USUAL, Behaviour, Synthetic
from analysis.tests.test_claims import study_session

LAMMPS = "lammps-melt"


def figures(*sessions: Path) -> dict[str, Drawn]:
    return {drawn.name: drawn for drawn in draw_all(Evidence(load(sessions)), "made up")}


def whole(seconds: float, **more: Any) -> list[dict[str, Any]]:
    return [{"point": {"atoms": 32000}, "samples": {"elapsed_s": [seconds] * 3}, **more}]


def marks(axes: Axes) -> int:
    """How many points have a mark of a curve, and no cross."""
    return sum(
        int(np.isfinite(np.asarray(line.get_ydata(), float)).sum())
        for line in axes.lines
        if line.get_marker() not in ("None", "", "x")
    )


def of_both(folder: Path, study: str, **more: Any) -> list[Path]:
    """Two sessions with the same points; in the first adaptive failed."""
    failed = {"bare": USUAL["bare"], "adaptive": Behaviour(0.9, fails="failed")}
    good = {"bare": USUAL["bare"], "adaptive": USUAL["adaptive"]}
    return [
        Synthetic(mpis={"mpich": variants}, study=study, launches=2, samples=3, **more).write(folder / name)
        for name, variants in (("first", failed), ("second", good))
    ]


def test_two_sessions_of_one_budget_have_a_line_each(tmp_path: Path) -> None:
    sessions = [
        study_session(tmp_path / name, LAMMPS, {"bare": whole(1.0), "adaptive": whole(slow)})
        for name, slow in (("one", 1.1), ("two", 0.9))
    ]
    drawn = figures(*sessions)["third_party"]
    assert list(drawn.points["label"]) == ["lammps melt: atoms 32000, one", "lammps melt: atoms 32000, two"]
    assert marks(drawn.figure.axes[0]) == 2
    alone = figures(sessions[0])["third_party"]
    assert list(alone.points["label"]) == ["lammps melt: atoms 32000"]


def test_a_code_that_failed_has_a_cross_and_its_reason_and_a_disturbed_one_says_so(tmp_path: Path) -> None:
    bad = [{"point": {"atoms": 32000}, "status": "failed", "reason": "its result is wrong: 1"}]
    stolen = {"noise": {"steal_s": 1.0}}
    measured = {"bare": whole(1.0), "adaptive": whole(1.1, **stolen), "idle": bad}
    drawn = figures(study_session(tmp_path / "s", LAMMPS, measured))["third_party"]
    of = {row["variant"]: row for row in frames.rows(drawn.points)}
    assert np.isnan(of["idle"]["value"])
    assert (of["idle"]["status"], of["idle"]["reason"]) == ("failed", "its result is wrong: 1")
    assert of["adaptive"]["status"] == "ok"
    assert of["adaptive"]["reason"].startswith("the machine was disturbed: others took ")
    assert any(line.get_marker() == "x" for line in drawn.figure.axes[0].lines)
    assert drawn.found == "Without a number: lammps melt: atoms 32000 on mpich (idle): its result is wrong: 1."


def test_codes_that_are_not_here_are_named_and_not_drawn(tmp_path: Path) -> None:
    study_session(tmp_path / "s", LAMMPS, {"bare": whole(1.0), "adaptive": whole(1.1)})
    missing = [{"point": {}, "status": "skipped", "reason": "not found"}]
    study_session(tmp_path / "s", "hpcg-small", {"bare": missing, "adaptive": missing}, mpi="openmpi")
    drawn = figures(tmp_path / "s")["third_party"]
    assert set(drawn.points["study"]) == {LAMMPS}
    assert "Skipped, the reasons are in the records: hpcg small." in drawn.found


@pytest.mark.parametrize(
    ("study", "name", "more", "points"),
    [
        ("overlap-ratio", "overlap_ratio-4mb", {"comp_over_comm": (0.25, 1.0, 4.0)}, 6),
        ("send-time", "send_time-both", {"comp_s": (1e-3,), "sizes": (MB // 4, MB)}, 4),
    ],
)
def test_a_figure_says_how_many_points_of_other_sessions_it_leaves_out(
    tmp_path: Path, study: str, name: str, more: dict[str, Any], points: int
) -> None:
    first, second = of_both(tmp_path, study, **more)
    drawn = figures(first, second)[name]
    assert len(drawn.points) == 2 * points
    assert f"{points} points of other sessions or settings are in the table alone." in drawn.caption
    assert marks(drawn.figure.axes[0]) == points, "adaptive's of the second session, for it failed in the first"
    assert "in the table alone" not in figures(second)[name].caption


def test_a_run_time_says_so_too(tmp_path: Path) -> None:
    runtime = Runtime("overlap-ratio", "Run time")
    (drawn,) = runtime(Evidence(load(of_both(tmp_path, "overlap-ratio"))), "made up")
    assert "6 points of other sessions or settings are in the table alone." in drawn.caption
    assert marks(drawn.figure.axes[0]) == 6


def test_a_map_of_two_settings_is_of_one_session(tmp_path: Path) -> None:
    for name, efficiency in (("one", 0.2), ("two", 0.8)):
        variants = {"bare": USUAL["bare"], "adaptive": Behaviour(efficiency)}
        folder = tmp_path / name
        Synthetic(mpis={"mpich": variants}, comp_over_comm=(1.0,), launches=4, samples=5).write(folder)
        for path in sorted((folder / "records").glob("*adaptive.jsonl")):
            lines = [json.loads(line) for line in path.read_text().splitlines()]
            turn = lines[0]["header"]["context"]["repetition"]
            for line in lines[1:-1]:
                line["point"] |= {"burst": (1, 20)[turn % 2], "rest_us": (0, 1000)[turn // 2]}
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    records = load([tmp_path / "one", tmp_path / "two"])
    drawn = Sweep("overlap-ratio")(Evidence(records), "made up")
    assert [figure.points["session"].unique().tolist() for figure in drawn] == [["one"], ["two"]]
    assert ["session one" in figure.caption for figure in drawn] == [True, False]
    shown = [float(text.get_text()) for figure in drawn for text in figure.figure.axes[0].texts]
    assert shown == pytest.approx([0.2] * 4 + [0.8] * 4, abs=0.05)


SWEPT: dict[str, Any] = {"sizes": (MB, 2 * MB, 4 * MB, 8 * MB), "comp_s": (1e-3, 1e-2, 5e-2)}


def test_two_sessions_have_a_map_each_and_none_of_their_middle(tmp_path: Path) -> None:
    drawn = figures(*of_both(tmp_path, "send-time", **SWEPT))
    maps = {name: figure for name, figure in drawn.items() if name.startswith("overlap_map")}
    assert set(maps) == {"overlap_map-send-time-both-first", "overlap_map-send-time-both-second"}
    for name, figure in maps.items():
        assert set(figure.points["session"]) == {name.rpartition("-")[2]}
        assert f"pattern both, {name.rpartition('-')[2]}: " in figure.caption
        assert "in the table alone" not in figure.caption


def test_a_map_says_how_many_settings_it_does_not_show(tmp_path: Path) -> None:
    _, session = of_both(tmp_path, "send-time", **SWEPT)
    for file in (session / "records").glob("*.001.adaptive.jsonl"):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        for line in lines[1:-1]:
            line["point"]["burst"] = 20
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    drawn = figures(session)["overlap_map-send-time-both"]
    assert "12 points of other sessions or settings are in the table alone." in drawn.caption
