# SPDX-License-Identifier: BSD-3-Clause
"""G1 to G4, M3 and P5's EP: figures and claims on records whose truth is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis import catalogue
from analysis.claims.table import Row
from analysis.claims.table import table as claims_table
from analysis.evidence import Evidence
from analysis.figures.toolkit import Drawn
from analysis.records.load import load
from analysis.report.findings import sections
from analysis.tests.synthetic import Behaviour, Synthetic
from analysis.tests.test_claims import rows_of, study_session

MB_80 = 80_000_000


def row_of(session: Path, study: str) -> Row:
    (row,) = [row for row in claims_table([session]).rows if row.study == study and row.mpi]
    return row


def drawn_of(session: Path, name: str) -> Drawn:
    return next(figure for figure in catalogue.draw_all(Evidence(load([session])), "made up") if figure.name == name)


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
    (section,) = sections(claims_table([session]), evidence, catalogue.draw_all(evidence, ""))
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
    assert drawn_of(session, "large_messages").chapter == "G4"


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
    (section,) = sections(claims_table([session]), Evidence(load([session])), [figure])
    assert "nothing was claimed" in section.sentences[0]


def solve(mode: str, allreduce_s: float, *, barrier: bool = False, packets: bool = False) -> dict[str, Any]:
    """A solve that computes for a second and waits for its sums."""
    samples = {"comp_s": 1.0, "comm_s": allreduce_s + 0.1, "elapsed_s": 1.1 + allreduce_s}
    samples |= {"irecv_s": 0.0, "send_s": 0.05, "wait_s": 0.05, "allreduce_s": allreduce_s}
    samples |= {"barrier_s": allreduce_s / 2} if barrier else {}
    for call in ("irecv", "send", "wait", "allreduce", "outside") if packets else ():
        samples |= {f"{call}_packets_in": 10.0, f"{call}_packets_out": 30.0 if call == "outside" else 20.0}
    point = {"nx": 8, "ny": 8, "nz": 8, "mode": mode, "barrier": barrier, "packets": packets}
    return {"point": point, "samples": {name: [value] * 3 for name, value in samples.items()}}


def solves(overlapped: float, pipelined: float) -> list[dict[str, Any]]:
    modes = {"blocking": 0.2, "overlapped": overlapped, "pipelined": pipelined}
    return [
        *(solve(mode, allreduce, packets=packets) for packets in (False, True) for mode, allreduce in modes.items()),
        *(solve(mode, modes[mode], barrier=True) for mode in ("blocking", "overlapped")),
    ]


def test_overlap_that_slows_the_dot_product_is_told_from_the_solve(tmp_path: Path) -> None:
    session = study_session(tmp_path / "s", "minife-packets", {"bare": solves(0.4, 0.1)})
    slower, removed = rows_of(claims_table([session]), "G1")
    assert [row.value for row in (slower, removed)] == [pytest.approx(2.0), pytest.approx(1.2 / 1.3)]
    assert (slower.decision, removed.decision) == ("reproduced", "reproduced")


def test_where_the_dot_product_is_not_slower_the_barrier_shows_the_cause(tmp_path: Path) -> None:
    session = study_session(tmp_path / "s", "minife-packets", {"bare": solves(0.1, 0.5)})
    assert [row.decision for row in rows_of(claims_table([session]), "G1")] == ["not reproduced"] * 2
    evidence = Evidence(load([session]))
    (section,) = sections(claims_table([session]), evidence, catalogue.draw_all(evidence, ""))
    said = " ".join(section.sentences)
    assert "time in a barrier before each Allreduce, overlap on / off, bare: MPICH 0.5" in said
    assert "time outside of MPI calls, pipelined / overlap off, bare: MPICH 1" in said


def test_time_and_packets_by_call_are_drawn_with_what_is_outside_of_calls(tmp_path: Path) -> None:
    session = study_session(tmp_path / "s", "minife-packets", {"bare": solves(0.4, 0.1), "adaptive": solves(0.3, 0.1)})
    packets = drawn_of(session, "minife_packets").points
    assert set(packets["call"]) == {"irecv", "send", "wait", "allreduce", "outside"}
    outside = packets[(packets["call"] == "outside") & (packets["variant"] == "bare")]
    assert set(outside["value"]) == {40.0}
    assert len(outside) == 3, "one a mode"
    time = drawn_of(session, "minife_time")
    assert set(time.points["call"]) == {"irecv", "send", "wait", "allreduce", "barrier", "comp"}
    assert "MPICH, overlapped, barrier, bare: outside of MPI calls" in time.found
