# SPDX-License-Identifier: BSD-3-Clause
"""F1 to F3 on made-up records: the claims' numbers, and the figures that stand beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from analysis import claims
from analysis.claims.evidence import Evidence
from analysis.figures import gallery
from analysis.load import load
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
    return {figure.name for figure in gallery.draw_all(Evidence(load([session])), "Data: made up.")}


def test_f1_compares_threads_of_the_same_kind_and_grows_over_user_level_ones(tmp_path: Path) -> None:
    measured = {"offload": latencies(1e-7), "bare-multiple": latencies(1e-5)}
    session = study_session(tmp_path / "s", "concurrent-latency", measured, machine=MACHINE)
    faster, flat = rows_of(claims.table([session]), "F1")[:2]
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
    (row,) = rows_of(claims.table([session]), "F2")
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
    rows = rows_of(claims.table([session]), "F3")
    assert [row.value for row in rows] == [pytest.approx(0.5, rel=0.01), pytest.approx(0.68, rel=0.01)]
    assert names(session) == {"waiting_time", "waiting_balance"}
