# SPDX-License-Identifier: BSD-3-Clause
"""Races over a grid that was measured as a whole: the best is found, and a grid with a gap is none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from analysis.benchmarks import races, recorded_races
from analysis.benchmarks.synthetic import USUAL, Synthetic
from analysis.errors import UsageError

AXES = {"burst": (3, 1, 30), "rest_us": (10000, 0)}
AS_ASKED = {"burst": "3,1,30.0", "rest_us": "10000,0"}  # 30.0 is the 30 that a point has
FASTER, SLOWER = {("burst", 30): 0.9, ("rest_us", 0): 0.98}, {("burst", 1): 1.05}


def grid_session(folder: Path) -> Path:
    """Six settings with six launches each; a burst of 30 and no backoff make the whole time shorter."""
    settings = [(burst, rest) for burst in AXES["burst"] for rest in AXES["rest_us"]]
    mpis = {"mpich": {"adaptive": USUAL["adaptive"]}}
    Synthetic(mpis=mpis, comp_over_comm=(1.0,), launches=6 * len(settings), samples=5).write(folder)
    for turn, path in enumerate(sorted((folder / "records").glob("*.jsonl"))):
        values = dict(zip(AXES, settings[turn % len(settings)], strict=True))
        factor = float(np.prod([(FASTER | SLOWER).get(pair, 1.0) for pair in values.items()]))
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        for line in lines[1:-1]:
            line["point"] |= values
            line["samples"]["total_s"] = [factor * one for one in line["samples"]["total_s"]]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    facts = json.loads((folder / "session.json").read_text())
    facts["request"] = {"settings": {"size_bytes": "4194304", **AS_ASKED}}
    (folder / "session.json").write_text(json.dumps(facts))
    return folder


def test_the_best_of_a_recorded_grid_is_found(tmp_path: Path) -> None:
    grid = recorded_races.recorded(grid_session(tmp_path / "s"))
    assert [axis.values for axis in grid.axes] == [("default", "1", "30.0"), ("default", "0")]
    assert grid.best == {"burst": "30.0", "rest_us": "0"} and len(grid.launches) == 6
    assert grid.gain(grid.best) == pytest.approx(-np.log(0.9 * 0.98), abs=0.01) and grid.gain({"burst": "1"}) < 0
    ended = races.race(grid.launch(1), "effects", 1, 6, grid.axes)
    assert ended.confirmed and ended.winner["burst"] == "30.0"


def test_the_table_says_the_share_and_the_budget(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = grid_session(tmp_path / "s")
    assert recorded_races.main([str(session), "--races", "3", "--blocks", "4"]) == 0
    said = capsys.readouterr().out
    assert "6 settings; the best is burst=30.0, rest_us=0:" in said
    assert "| effects | 3 of 3 |" in said and "| all of them |  |  | 36 |" in said


def test_a_grid_with_a_gap_or_no_grid_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = grid_session(tmp_path / "s")
    for path in (session / "records").glob("*.jsonl"):
        if '"burst": 30, "rest_us": 0' in path.read_text():
            path.unlink()
    with pytest.raises(UsageError, match="5 settings, which is no whole grid"):
        recorded_races.recorded(session)
    plain = Synthetic(mpis={"mpich": {"adaptive": USUAL["adaptive"]}}, launches=2).write(tmp_path / "plain")
    with pytest.raises(SystemExit) as ended:
        recorded_races.main([str(plain)])
    assert ended.value.code == 2 and "has no grid" in capsys.readouterr().err.splitlines()[-1]
