# SPDX-License-Identifier: BSD-3-Clause
"""Claims: all written down, decided from intervals only, and never by too few launches."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.claims.decision import REQUIREMENTS, Decision, decide, decide_one
from analysis.claims.table import ClaimTable, Row
from analysis.claims.table import table as claims_table
from analysis.evidence import COMPARE, Evidence, Value
from analysis.measures import Median, MetricAt, Ratio
from analysis.metrics.formulas import METRICS
from analysis.records.load import load
from analysis.statistics.interval import Interval
from analysis.subject import OPERATORS, Claim, subjects
from analysis.tests.synthetic import USUAL, Behaviour, Synthetic, empty_session, end, header, write_launch, write_lines

CLAIM = Claim("s", "n", "<=", 1.0, "c", "p", Median("x_s", "bare"), margin=0.1, since="2026-01-01 00:00")


def interval(low: float, high: float, defensible: bool = True) -> Interval:
    return Interval((low + high) / 2, low, high, "made up", defensible)


@pytest.mark.parametrize(
    ("low", "high", "operator", "expected"),
    [
        (0.9, 1.1, "<=", Decision.REPRODUCED),
        (0.9, 1.11, "<=", Decision.INCONCLUSIVE),
        (1.11, 1.2, "<=", Decision.NOT_REPRODUCED),
        (0.9, 1.2, ">=", Decision.REPRODUCED),
        (0.8, 1.2, ">=", Decision.INCONCLUSIVE),
        (0.7, 0.89, ">=", Decision.NOT_REPRODUCED),
    ],
)
def test_the_whole_interval_decides(low: float, high: float, operator: str, expected: Decision) -> None:
    assert decide_one(interval(low, high), replace(CLAIM, operator=operator))[0] is expected


def test_too_few_launches_decide_nothing_but_point_somewhere() -> None:
    decision, reason = decide_one(interval(0.9, 1.0, defensible=False), CLAIM)
    assert decision is Decision.INCONCLUSIVE
    assert "points to reproduced" in reason


def test_every_point_must_hold_unless_the_claim_says_up_to() -> None:
    values = [Value("s", "m", "x", str(i), interval(low, low + 0.05)) for i, low in enumerate((0.9, 1.2, 1.0))]
    assert decide(values, CLAIM)[0] is Decision.NOT_REPRODUCED
    assert decide(values, CLAIM)[2].point == "1"
    assert decide(values[::2], CLAIM)[0] is Decision.REPRODUCED
    decision, _, decisive = decide(values, replace(CLAIM, up_to=True))
    assert (decision, decisive.point) == (Decision.REPRODUCED, "0")
    unsure = [*values[::2], Value("s", "m", "x", "3", interval(1.0, 1.3))]
    assert decide(unsure, CLAIM)[0] is Decision.INCONCLUSIVE


def test_claims_are_sound_and_a_subject_without_any_says_why() -> None:
    assert all(subject.note for subject in subjects() if not subject.claims)
    for claim in (claim for subject in subjects() for claim in subject.claims):
        assert claim.operator in OPERATORS and not (claim.up_to and claim.operator == "=")
        assert claim.margin >= 0
        assert claim.source
        assert set(claim.requires) <= set(REQUIREMENTS)
        measure: Any = claim.measure
        if isinstance(measure, MetricAt):
            assert measure.metric in METRICS
        for wanted in getattr(measure, "where", {}).values():
            assert not isinstance(wanted, tuple) or wanted[0] in COMPARE


def test_without_records_nothing_is_measured() -> None:
    table = claims_table([])
    assert {row.decision for row in table.rows} == {"not measured"}
    assert {row.study for row in table.rows} == {subject.id for subject in subjects()}


def test_the_text_keeps_study_and_decision_apart() -> None:
    firsts = [line for line in claims_table([]).text().splitlines() if " not measured " in line]
    assert {line.split("  ")[0] for line in firsts} == {subject.id for subject in subjects()}
    assert len({line.index(" not measured ") for line in firsts}) == 1


def rows_of(table: ClaimTable, study: str) -> list[Row]:
    return [row for row in table.rows if row.study == study]


@pytest.fixture(scope="module")
def overlap_session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    ompi = {"bare": Behaviour(0.11), "adaptive": Behaviour(0.95, 1.05)}
    mpich = {name: USUAL[name] for name in ("bare", "mpi-async", "adaptive")}
    made = Synthetic(
        mpis={"mpich": mpich, "openmpi": ompi}, patterns=("both", "sender", "receiver"), comp_over_comm=(1.0,)
    )
    return made.write(tmp_path_factory.mktemp("claims") / "s")


def test_p1_is_decided_for_every_mpi_that_it_speaks_of(overlap_session: Path) -> None:
    found = {(row.claim[:18], row.mpi): row.decision for row in rows_of(claims_table([overlap_session]), "P1")
             if row.mpi}  # fmt: skip
    assert found == {
        ("With the engine th", "mpich"): "reproduced",
        ("With the engine th", "openmpi"): "reproduced",
        ("The MPIs as they a", "mpich"): "reproduced",
        ("The MPIs as they a", "openmpi"): "reproduced",
        ("Open MPI overlaps ", "openmpi"): "not reproduced",
        ("Open MPI does not ", "openmpi"): "reproduced",
    }


@pytest.mark.parametrize(("ratio", "told"), [(1.0, True), (0.7, True), (1.6, True), (2.5, False), (0.3, False)])
def test_an_efficiency_is_decided_at_the_ratio_that_was_measured_if_it_is_near(
    overlap_session: Path, ratio: float, told: bool
) -> None:
    """The work is that of the MPI that was calibrated. Another metric is told at comp = comm alone."""
    evidence = Evidence(load([overlap_session]))
    evidence.metrics["comp_over_comm_measured"] = ratio
    for metric in ("overlap_efficiency", "overlap_ratio"):
        for value in MetricAt(metric, "adaptive", {"comp_over_comm": 1.0})(evidence, "overlap-ratio"):
            decides = told if metric == "overlap_efficiency" else ratio == 1.0
            assert (not value.caveat) == decides
            assert (f"comp was {ratio:.2f} times comm" in value.caveat + value.remark) == (ratio != 1.0)


def test_the_table_as_json_and_text(overlap_session: Path) -> None:
    table = claims_table([overlap_session])
    loaded = json.loads(table.json())
    assert loaded["counts"]["reproduced"] == 5
    first = loaded["claims"][0]
    assert first["low"] <= first["value"] <= first["high"] <= 1.1
    assert first["figure"] == "overlap_ratio-4mb"
    assert "wanted <= 1 (margin 0.1)" in table.text()
    assert (first["decided_at"], first["of_points"]) == (1, 1) and ", at 1 of 1 point" in table.text()
    assert "not measured" in table.text()


def study_session(
    folder: Path,
    study: str,
    points: dict[str, list[dict[str, Any]]],
    launches: int = 6,
    machine: Any = None,
    mpi: str = "mpich",
) -> Path:
    """A session of a study by hand: variant -> points, each with its parameters and `samples` or `histograms`. A second
    call with another MPI adds to it."""
    empty_session(folder, machine=machine or {})
    for repetition in range(launches):
        for variant, measured in points.items():
            write_launch(folder, study, variant, f"{mpi}.{variant}{repetition}", measured, mpi)
    return folder


def test_a_ratio_compares_points_that_agree_in_everything_else(tmp_path: Path) -> None:
    """Each number of pairs with the same number, not with the slowest of them all."""

    def points(slope: float) -> list[dict[str, Any]]:
        return [{"point": {"pairs": n}, "samples": {"latency_s": [slope * n] * 3}} for n in (1, 2, 8)]

    measured = {"idle": points(2.0), "bare-multiple": points(1.0)}
    session = study_session(tmp_path / "m", "many-to-many", measured, machine={"cores": 8})
    values = Ratio("latency_s", "idle", "bare-multiple", {"pairs": (">", 1)})(Evidence(load([session])), "many-to-many")
    assert [value.interval.value for value in values] == [2.0, 2.0]


RDMA = {"nics": [{"driver": "mlx5_core"}]}
NETWORK = "interference-network"


def test_requirements_that_a_machine_does_not_meet(tmp_path: Path) -> None:
    points = [
        {"point": {"placement": "smt-sibling", "detection": name}, "samples": {"mflops": [rate]}}
        for name, rate in (("spin", 100.0), ("mwait-c1", 126.0))
    ]
    no_smt = study_session(
        tmp_path / "a", "interference-network", {"bare": points}, machine={"threads_per_core": 1, **RDMA}
    )
    row = rows_of(claims_table([no_smt]), "M1")[0]
    assert (row.decision, row.reason) == ("not testable here", "no SMT sibling: 1 threads per core")
    smt = study_session(
        tmp_path / "b", "interference-network", {"bare": points}, machine={"threads_per_core": 2, **RDMA}
    )
    row = rows_of(claims_table([smt]), "M1")[0]
    assert row.decision == "reproduced"
    assert row.value == pytest.approx(1.26)
    unknown = study_session(tmp_path / "c", NETWORK, {"bare": points})
    assert "does not say" in rows_of(claims_table([unknown]), "M1")[0].reason
    within = study_session(tmp_path / "d", "interference", {"bare": points}, machine={"threads_per_core": 2, **RDMA})
    assert "no point has what this claim needs" in rows_of(claims_table([within]), "M1")[0].reason


def test_ranks_of_another_study_meet_no_requirement(tmp_path: Path) -> None:
    point = {"pattern": "all-to-one", "collective": "ireduce", "size_bytes": 8}
    measured = {name: [{"point": point, "samples": {"total_s": [1.0]}}] for name in ("adaptive", "bare")}
    session = study_session(tmp_path / "s", "collective-overlap", measured)
    context = {"study": "n-load", "system": "s", "mpi": "mpich", "variant": "bare", "launch": "large"}
    line = {"point": {"computing_threads": 0}, "rank": 0, "status": "ok", "samples": {"latency_s": [1.0]}}
    write_lines(session / "records" / "large.jsonl", [header(context, 1024), line, end("bare", ranks=1024)])
    row = rows_of(claims_table([session]), "R1")[0]
    assert row.decision == "not testable here"
    assert row.reason.startswith("the paper's 1024 processes; here at most 2")


def test_ratio_within_a_variant_compares_points_that_agree_in_all_else(tmp_path: Path) -> None:
    def point(period: int, size: int, latency: float) -> dict[str, Any]:
        return {"point": {"period_us": period, "size_bytes": size}, "samples": {"latency_s": [latency]}}

    points = [point(20, 1, 2.0), point(10000, 1, 1.0), point(20, 2, 9.0), point(10000, 2, 3.0)]
    session = study_session(tmp_path / "s", "latency-idle-period", {"idle": points})
    from analysis.evidence import Evidence  # noqa: PLC0415
    from analysis.records.load import load  # noqa: PLC0415

    values = Ratio("latency_s", "idle", "idle", {"period_us": (">", 10)}, {"period_us": 10000})(
        Evidence(load([session])), "latency-idle-period"
    )
    assert sorted(value.interval.value for value in values) == [1.0, 1.0, 2.0, 3.0]


def test_histograms_give_their_exact_extremes(tmp_path: Path) -> None:
    def histogram(best: float, median: float) -> dict[str, Any]:
        return {
            "count": 10,
            "min": best,
            "max": 9.0,
            "mean": 4.0,
            "quantiles": {"0.5": median},
            "edges": [0, 10],
            "counts": [10],
        }

    points = [
        {"point": {"period_us": period, "size_bytes": 1}, "histograms": {"latency_s": histogram(best, median)}}
        for period, best, median in ((0, 1.05, 3.0), (10000, 1.0, 2.0))
    ]
    nics = {"nics": [{"name": "ib0", "driver": "mlx5_core"}]}
    session = study_session(tmp_path / "s", "latency-idle-period", {"idle": points}, machine=nics)
    rows = rows_of(claims_table([session]), "P3")
    assert [row.decision for row in rows[:3]] == ["reproduced", "reproduced", "reproduced"]
    assert rows[0].value == pytest.approx(1.05)
    assert rows[1].value == pytest.approx(1.5)


def test_growth_and_best_other(tmp_path: Path) -> None:
    def latencies(*values: float) -> list[dict[str, Any]]:
        return [{"point": {"receivers": 4**i}, "samples": {"latency_s": [value]}} for i, value in enumerate(values)]

    machine = {"cores": 8}
    session = study_session(
        tmp_path / "s",
        "one-to-many",
        {"idle": latencies(1, 1.1, 1.2), "bare-multiple": latencies(1, 4, 16)},
        machine=machine,
    )
    rows = rows_of(claims_table([session]), "P8")
    assert [(row.decision, row.value) for row in rows[:2]] == [("reproduced", pytest.approx(1.2)), ("reproduced", 1.0)]

    def total(value: float) -> list[dict[str, Any]]:
        return [
            {"point": {"pattern": "all-to-one"}, "samples": {"total_s": [value], "comm_s": [value], "comp_s": [value]}}
        ]

    other = study_session(
        tmp_path / "r", "collective-overlap", {"adaptive": total(1), "bare": total(3), "mpi-async": total(2)}
    )
    row = rows_of(claims_table([other]), "R1")[0]
    assert row.value == pytest.approx(0.5), "against the faster of bare and mpi-async"
    assert row.decision == "not testable here"
    assert row.reason == (
        "the paper's 1024 processes; here at most 2; no MPI but mpich was measured: compared with its own modes alone"
    )


def test_a_point_that_missed_comp_equal_comm_cannot_decide() -> None:
    good, missed = (
        Value("s", "m", "x", name, interval(0.9, 1.0), caveat=why) for name, why in (("a", ""), ("b", "2 times"))
    )
    assert decide([good], CLAIM)[0] is Decision.REPRODUCED
    assert decide([good, missed], CLAIM)[:2] == (Decision.INCONCLUSIVE, "2 times")
    worse = Value("s", "m", "x", "c", interval(1.2, 1.3))
    assert decide([good, missed, worse], CLAIM)[0] is Decision.NOT_REPRODUCED


def test_what_is_wrong_with_the_records_is_said_under_the_table(overlap_session: Path, tmp_path: Path) -> None:
    assert not claims_table([overlap_session]).cautions
    (tmp_path / "empty").mkdir()
    table = claims_table([tmp_path / "empty"])
    assert {row.decision for row in table.rows} == {"not measured"}
    assert "no record files" in " ".join(json.loads(table.json())["cautions"])
    assert "no record files" in table.text()
    failing = Synthetic(mpis={"mpich": {"bare": Behaviour(0.1, fails="timeout")}}).write(tmp_path / "failing")
    (row, *_) = rows_of(claims_table([failing]), "P1")
    assert row.value is None
    assert "no point has what this claim needs" in row.reason
