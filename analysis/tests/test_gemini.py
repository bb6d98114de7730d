# SPDX-License-Identifier: BSD-3-Clause
"""G2, G3, G4, M3 and P5's EP: figures and claims on records whose truth is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis import claims
from analysis.claims.decided import Row
from analysis.claims.evidence import Evidence
from analysis.figures import gallery
from analysis.figures.toolkit import Drawn
from analysis.findings import sections
from analysis.load import load
from analysis.tests.synthetic import Behaviour, Synthetic
from analysis.tests.test_claims import study_session

MB_80 = 80_000_000


def row_of(session: Path, study: str) -> Row:
    (row,) = [row for row in claims.table([session]).rows if row.study == study and row.mpi]
    return row


def drawn_of(session: Path, name: str) -> Drawn:
    return next(figure for figure in gallery.draw_all(Evidence(load([session])), "made up") if figure.name == name)


def early(share: float, posting: str = "receives-first", size: int = 1 << 20) -> dict[str, Any]:
    return {"point": {"posting": posting, "size_bytes": size}, "samples": {"arrived_early": [share] * 3}}


def test_halos_that_come_early_are_seen(tmp_path: Path) -> None:
    good = study_session(tmp_path / "good", "early-arrival", {"bare": [early(1.0), early(0.0, "sends-first")]})
    assert row_of(good, "G2").decision == "reproduced"
    assert "100%" in drawn_of(good, "early_arrival").found


def test_where_none_comes_early_the_engine_shows_the_cause(tmp_path: Path) -> None:
    session = study_session(tmp_path / "bad", "early-arrival", {"bare": [early(0.0)], "adaptive": [early(1.0)]})
    assert row_of(session, "G2").decision == "not reproduced"
    evidence = Evidence(load([session]))
    (section,) = sections(claims.table([session]), evidence, gallery.draw_all(evidence, ""))
    assert "the same share with adaptive: MPICH 1" in " ".join(section.sentences)


def inflated(folder: Path, study: str, efficiency: float, size: int = 1 << 20) -> Path:
    made = Synthetic(
        mpis={"mpich": {"bare": Behaviour(efficiency), "adaptive": Behaviour(0.97, 1.02)}},
        study=study,
        sizes=(size,),
        comp_over_comm=(0.25, 0.5, 1.0, 2.0),
    )
    return made.write(folder)


@pytest.mark.parametrize(("efficiency", "decision"), [(1.0, "reproduced"), (0.0, "not reproduced")])
def test_the_run_time_is_flat_or_not(tmp_path: Path, efficiency: float, decision: str) -> None:
    session = inflated(tmp_path / "s", "computation-inflation", efficiency)
    assert row_of(session, "G3").decision == decision
    figure = drawn_of(session, "computation_inflation")
    bare = figure.points[figure.points["variant"] == "bare"].sort_values("comp_over_comm")
    expected = [1.0, 1.0, 1.0, 2.0] if efficiency else [1.25, 1.5, 2.0, 3.0]
    assert np.allclose(bare["value"], expected, rtol=0.05), "total / comm"
    assert "bare" in figure.found


def test_80_mb_are_decided_and_drawn(tmp_path: Path) -> None:
    session = inflated(tmp_path / "s", "large-messages", 0.05, MB_80)
    assert row_of(session, "G4").decision == "reproduced"
    assert drawn_of(session, "large_messages").study == "large-messages"


def test_a_timer_that_does_not_show_in_ep(tmp_path: Path) -> None:
    points = [
        {"point": {"timer_ms": period, "class": "A"}, "samples": {"elapsed_s": [0.5, 0.5001, 0.4999]}}
        for period in (1, 10, 100)
    ]
    session = study_session(tmp_path / "s", "timer-period-ep", {"timer": points})
    assert row_of(session, "P5").decision == "reproduced"
    assert set(drawn_of(session, "timer_period_ep").points["value"]) == {1.0}


def test_placements_that_a_machine_lacks_are_gaps_in_the_figure(tmp_path: Path) -> None:
    skipped = {"status": "skipped", "reason": "2 cores a node are needed and there are 1", "samples": {}}
    points: list[dict[str, Any]] = [
        {"point": {"placement": "shared"}, "samples": {"elapsed_s": [0.1, 0.11]}},
        {"point": {"placement": "dedicated"}, **skipped},
    ]
    session = study_session(tmp_path / "s", "placement", {"bare": points, "adaptive": points})
    figure = drawn_of(session, "placement_minighost")
    assert set(figure.points["status"]) == {"ok", "skipped"}
    (section,) = sections(claims.table([session]), Evidence(load([session])), [figure])
    assert "nothing was claimed" in section.sentences[0]
