# SPDX-License-Identifier: BSD-3-Clause
"""The table of results says beside each row what its numbers are worth: who disturbed it, and what its ranges are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.catalogue import draw_all
from analysis.choice import Choice
from analysis.evidence import Evidence
from analysis.figures.summary import summary
from analysis.metrics.evaluate import evaluate
from analysis.records.load import load
from analysis.report import tables
from analysis.report.points import Points
from analysis.studies.pioman import overlap_ratio
from analysis.tests.synthetic import LIMITED, USUAL, Synthetic
from analysis.tests.test_claims import study_session
from analysis.tests.test_verdict import changed_points

VARIANTS = {name: USUAL[name] for name in ("bare", "adaptive")}


def made(folder: Path, **changed: Any) -> Path:
    made = {"mpis": {"mpich": VARIANTS}, "comp_over_comm": (1.0,), "samples": 5, **changed}
    return Synthetic(**made).write(folder)


def cells(session: Path, column: str) -> dict[str, str]:
    """Variant -> what its row has in this column."""
    (table,) = tables.results(evaluate(load([session])))
    return {row[1]: row[table["columns"].index(column)] for row in table["rows"]}


def test_six_quiet_launches_have_no_mark(tmp_path: Path) -> None:
    assert cells(made(tmp_path / "s"), "marks") == {"bare": "", "adaptive": ""}


def test_a_disturbed_row_is_marked(tmp_path: Path) -> None:
    session = changed_points(made(tmp_path / "s"), "*adaptive*", noise={"steal_s": 0.5})
    marks = cells(session, "marks")
    assert marks["bare"] == ""
    assert marks["adaptive"].startswith("disturbed: others took ")


@pytest.mark.parametrize("launches", [1, 3])
def test_ranges_that_are_no_intervals_are_marked(tmp_path: Path, launches: int) -> None:
    for mark in cells(made(tmp_path / "s", launches=launches), "marks").values():
        assert mark.startswith("spread within one launch" if launches == 1 else "spread of 3 launches")


def test_a_share_of_the_limit_over_few_rounds_is_marked(tmp_path: Path) -> None:
    of = {name: LIMITED[name] for name in ("bare", "adaptive", "limit")}
    few = cells(made(tmp_path / "few", mpis={"mpich": of}, launches=3), "marks")
    assert "of the limit: a spread over 3 of 3 rounds" in few["adaptive"]
    enough = cells(made(tmp_path / "enough", mpis={"mpich": of}), "marks")
    assert "of the limit" not in enough["adaptive"]


def test_all_four_numbers_are_in_the_table(tmp_path: Path) -> None:
    session = made(tmp_path / "s")
    for column in ("overlap efficiency", "compute inflation", "availability", "hidden communication"):
        assert set(cells(session, column)) == {"bare", "adaptive"}
        assert "–" not in cells(session, column).values()


def test_the_points_of_a_figure_say_what_they_are_worth(tmp_path: Path) -> None:
    def remarks(session: Path) -> dict[str, str]:
        evidence = Evidence(load([session]))
        (drawn,) = overlap_ratio.ratio(evidence, "")
        table = Points(evidence.records, tmp_path, Choice()).table(drawn)
        return {row.cells[1].words: row.cells[-1].words for row in table.rows}

    assert remarks(made(tmp_path / "s")) == {"bare": "", "adaptive": ""}
    loose = changed_points(made(tmp_path / "loose"), "*adaptive*", converged=False, noise={"steal_s": 0.5})
    assert remarks(loose) == {"bare": "", "adaptive": "not converged; disturbed"}
    assert remarks(made(tmp_path / "few", launches=3)) == dict.fromkeys(("bare", "adaptive"), "no 95 % interval")


def test_the_points_of_other_studies_say_it_too(tmp_path: Path) -> None:
    points = [{"point": {"receivers": n}, "samples": {"latency_s": [1.0] * 3}} for n in (1, 4)]
    stolen = [{**point, "noise": {"steal_s": 1.0}} for point in points]
    session = study_session(tmp_path / "s", "one-to-many", {"idle": stolen, "bare-multiple": points})
    frame = summary(Evidence(load([session])), "one-to-many", "latency_s")
    shares = frame.groupby("variant")["disturbance"].max()
    assert shares["idle"] == pytest.approx(1 / 3)
    assert np.isnan(shares["bare-multiple"])


def test_what_a_figure_found_says_how_many_values_show_nothing_yet(tmp_path: Path) -> None:
    points = [{"point": {"receivers": n}, "samples": {"latency_s": [float(n)] * 3}} for n in (1, 4)]
    stolen = [{**point, "noise": {"steal_s": 1.0}} for point in points]

    def found(folder: Path, idle: list[dict[str, Any]], launches: int) -> str:
        session = study_session(folder, "one-to-many", {"idle": idle, "bare-multiple": points}, launches)
        return next(drawn.found for drawn in draw_all(Evidence(load([session])), "") if drawn.chapter == "P8")

    assert " values " not in found(tmp_path / "good", points, 6)
    assert "Of 4 values 4 have no 95 % interval." in found(tmp_path / "few", points, 3)
    assert "Of 4 values 2 were disturbed." in found(tmp_path / "stolen", stolen, 6)
