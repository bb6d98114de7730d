# SPDX-License-Identifier: BSD-3-Clause
"""F1 to F4 on made-up records: the claims' numbers, and the figures that stand beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from analysis import catalogue
from analysis.claims.table import table as claims_table
from analysis.evidence import Evidence
from analysis.records.load import load
from analysis.tests.test_claims import rows_of, study_session

MACHINE = {"cores": 8}


def point(quantity: str, value: float, **parameters: Any) -> dict[str, Any]:
    return {"point": parameters, "samples": {quantity: [value, value * 1.001, value * 0.999]}}


def latencies(slope: float) -> list[dict[str, Any]]:
    """User-level threads wait `slope` longer a thread; kernel threads ten times as long as they."""
    return [
        point("mean_latency_s", factor * (1e-5 + slope * threads), threading=threading, threads=threads)
        for threading, factor in (("kernel", 10), ("ult", 1))
        for threads in (1, 8)
    ]


def names(session: Path) -> set[str]:
    return {figure.name for figure in catalogue.draw_all(Evidence(load([session])), "Data: made up.")}


def test_f1_compares_threads_of_the_same_kind_and_grows_over_user_level_ones(tmp_path: Path) -> None:
    measured = {"offload": latencies(1e-7), "bare-multiple": latencies(1e-5)}
    session = study_session(tmp_path / "s", "concurrent-latency", measured, machine=MACHINE)
    faster, flat = rows_of(claims_table([session]), "F1")[:2]
    assert faster.value == pytest.approx(1.08 / 9, rel=0.01)
    assert flat.value == pytest.approx(1.08 / 1.01, rel=0.01)
    assert (faster.decision, flat.decision) == ("reproduced", "reproduced")
    assert names(session) == {"concurrent_latency"}


def test_f2_follows_user_level_threads_alone(tmp_path: Path) -> None:
    points = [
        point("remainder_s", remainder, threading=threading, mat_size=size)
        for threading, remainders in (("ult", (0.1, 0.02)), ("phases", (0.1, 0.3)))
        for size, remainder in zip((100, 2000), remainders, strict=True)
    ]
    session = study_session(tmp_path / "s", "ult-overlap", {"offload": points})
    (row,) = rows_of(claims_table([session]), "F2")
    assert row.decision == "reproduced"
    assert row.value == pytest.approx(0.2, rel=0.01)
    assert names(session) == {"ult_overlap"}


def test_f3_holds_the_two_ways_against_each_other(tmp_path: Path) -> None:
    points = []
    for waiting, elapsed, imbalance in (("remove", 1.0, 1.02), ("reinsert", 2.0, 1.5)):
        both = point("elapsed_s", elapsed, waiting=waiting)
        both["samples"]["imbalance"] = [imbalance] * 3
        points.append(both)
    session = study_session(tmp_path / "s", "waiting", {"offload": points}, machine=MACHINE)
    rows = rows_of(claims_table([session]), "F3")
    assert [row.value for row in rows] == [pytest.approx(0.5, rel=0.01), pytest.approx(0.68, rel=0.01)]
    assert names(session) == {"waiting_time", "waiting_balance"}


def solves(comm: float, comp: float) -> list[dict[str, Any]]:
    points = []
    for threading, factor in (("kernel", 1.0), ("ult", 2.0)):
        whole = point("elapsed_s", comm * factor + comp, threading=threading, nx=24, ny=24, nz=24)
        whole["samples"] |= {"comm_s": [comm * factor] * 3, "comp_s": [comp] * 3, "allreduce_s": [comm / 2] * 3}
        points.append(whole)
    return points


def test_f4_holds_offloaded_user_level_threads_against_kernel_threads_of_the_mpi(tmp_path: Path) -> None:
    measured = {"offload": solves(0.1, 1.0), "bare-multiple": solves(0.4, 1.0), "bare": solves(0.3, 1.0)}
    session = study_session(tmp_path / "s", "minife-threads", measured)
    study_session(tmp_path / "s", "minife-threads", {"bare": solves(0.35, 1.0)}, mpi="openmpi")
    less, faster = [row for row in rows_of(claims_table([session]), "F4") if row.mpi == "mpich"]
    assert less.value == pytest.approx(0.2 / 0.4, rel=0.01)
    assert faster.value == pytest.approx(1.2 / 1.3, rel=0.01)
    assert (less.decision, faster.decision) == ("reproduced", "not reproduced")
    assert names(session) == {"minife_threads"}
