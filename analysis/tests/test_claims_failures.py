# SPDX-License-Identifier: BSD-3-Clause
"""Claims on launches that failed, and on noise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.claims.table import Row
from analysis.claims.table import table as claims_table
from analysis.evidence import Evidence, disturbed, remark
from analysis.measures import Growth, Median, MetricAt, Ratio
from analysis.records.load import load
from analysis.tests.synthetic import USUAL, Behaviour, Synthetic
from analysis.tests.test_claims import rows_of, study_session
from analysis.tests.test_compare_failures import TIMEOUT, Line, changed, timed_out

WHY = "timeout: did not end within 60 s"
LARGE = 8 << 20


def send_time(folder: Path, **made: Any) -> Path:
    mpis = {"mpich": {"bare": Behaviour(0.1), "adaptive": Behaviour(0.98)}}
    return Synthetic(mpis=mpis, study="send-time", sizes=(1 << 20, LARGE), comp_s=(0.01,), **made).write(folder)


def p2(session: Path) -> Row:
    return next(row for row in rows_of(claims_table([session]), "P2") if row.mpi == "mpich")


def test_a_size_that_failed_keeps_the_worst_size_open(tmp_path: Path) -> None:
    assert p2(send_time(tmp_path / "good")).decision == "reproduced"

    def hang(line: Line) -> Line:
        return {**line, **TIMEOUT} if line["point"]["size_bytes"] == LARGE else line

    row = p2(changed(send_time(tmp_path / "s"), "*adaptive*", hang, 6))
    assert (row.decision, row.reason) == ("inconclusive", WHY)
    bare = p2(changed(send_time(tmp_path / "b"), "*bare*", hang, 6))
    assert bare.decision == "inconclusive"
    assert bare.reason.startswith("no reference: the variant bare has no usable samples")


def test_a_point_without_computation_has_no_metric_and_is_no_gap(tmp_path: Path) -> None:
    made = Synthetic(study="send-time", comp_s=(0.0, 0.01), launches=2).write(tmp_path / "s")
    values = MetricAt("overlap_ratio", "adaptive")(Evidence(load([made])), "send-time")
    assert len(values) == 1


def test_launches_that_failed_are_a_remark(tmp_path: Path) -> None:
    row = p2(timed_out(send_time(tmp_path / "s", launches=7)))
    assert row.decision == "reproduced"
    assert f"1 of 7 launches failed ({WHY}): the value is of the others" in row.reason


def test_an_mpi_that_failed_is_not_left_out_of_the_best_other(tmp_path: Path) -> None:
    variants = {name: USUAL[name] for name in ("bare", "adaptive")}
    made = Synthetic(mpis={"mpich": variants, "openmpi": variants}, comp_over_comm=(1.0,), launches=2)
    measure = Ratio("total_s", "adaptive", "best other")

    def mpich(session: Path) -> Any:
        return next(v for v in measure(Evidence(load([session])), "overlap-ratio") if v.mpi == "mpich")

    assert mpich(made.write(tmp_path / "good")).caveat == ""
    failing = timed_out(made.write(tmp_path / "s"), "*openmpi*bare*", 2)
    assert mpich(failing).caveat == f"openmpi bare has no value ({WHY})"
    skipped = changed(
        made.write(tmp_path / "k"), "*openmpi*bare*", lambda line: {**line, **TIMEOUT, "status": "skipped"}, 2
    )
    assert mpich(skipped).caveat == "", "what cannot be measured here is no competitor"
    some = timed_out(made.write(tmp_path / "p"), "*openmpi*bare*")
    assert mpich(some).remark == f"1 of 2 launches of openmpi bare failed ({WHY}): the value is of the others"


def test_growth_does_not_move_to_the_next_smaller_end(tmp_path: Path) -> None:
    points: list[dict[str, Any]] = [{"point": {"receivers": n}, "samples": {"latency_s": [float(n)]}} for n in (1, 4)]
    hung = {"point": {"receivers": 16}, **TIMEOUT}
    session = study_session(tmp_path / "s", "one-to-many", {"idle": [*points, hung]}, machine={"cores": 8})
    evidence = Evidence(load([session]))
    (value,) = Growth("latency_s", "idle", "receivers")(evidence, "one-to-many")
    assert (value.point, value.caveat) == ("receivers 1 to 16", f"receivers 16: {WHY}")
    values = Median("latency_s", "idle")(evidence, "one-to-many")
    assert [one.caveat for one in values] == ["", "", WHY]
    assert rows_of(claims_table([session]), "P8")[0].decision == "inconclusive"


VARIANTS = {name: USUAL[name] for name in ("bare", "adaptive")}


def with_fields(session: Path, variant: str, **fields: Any) -> Path:
    """The session with fields of every point of a variant set; a field `noise` is merged into what is there."""
    for file in (session / "records").glob(f"*.{variant}.jsonl"):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        for line in lines:
            if "point" in line:
                line.update({name: value for name, value in fields.items() if name != "noise"})
                line["noise"] = {**line["noise"], **fields.get("noise", {})}
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return session


def p1(session: Path) -> Any:
    return rows_of(claims_table([session]), "P1")[0]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return Synthetic(mpis={"mpich": VARIANTS}, comp_over_comm=(1.0,)).write(tmp_path / "s")


def test_a_quiet_point_decides_without_a_remark(session: Path) -> None:
    assert (p1(session).decision, p1(session).reason) == ("reproduced", "")


def test_a_disturbed_point_cannot_decide(session: Path) -> None:
    row = p1(with_fields(session, "adaptive", noise={"steal_s": 0.5}))
    assert row.decision == "inconclusive"
    assert "the machine was disturbed: the hypervisor took" in row.reason


def test_a_little_steal_does_not_bar(session: Path) -> None:
    assert p1(with_fields(session, "adaptive", noise={"steal_s": 0.01})).decision == "reproduced"


def test_samples_that_did_not_converge_are_named_beside_the_decision(session: Path) -> None:
    row = p1(with_fields(session, "adaptive", converged=False))
    assert row.decision == "reproduced", "the interval over six launches holds their noise"
    assert row.reason == "its samples did not converge: the interval over launches includes that"


def test_noise_larger_than_the_effect_is_named(tmp_path: Path) -> None:
    same = {"bare": Behaviour(0.93), "adaptive": Behaviour(0.93)}
    row = p1(Synthetic(mpis={"mpich": same}, comp_over_comm=(1.0,)).write(tmp_path / "s"))
    assert "its noise is larger than its difference to bare" in row.reason


def test_other_measures_heed_it_too(tmp_path: Path) -> None:
    def ratio(steal_s: float) -> Any:
        points = [
            {"point": {"receivers": n}, "samples": {"latency_s": [1.0] * 3}, "noise": {"steal_s": steal_s * (n > 1)}}
            for n in (1, 4)
        ]
        name = f"s{steal_s}"
        found = study_session(tmp_path / name, "one-to-many", {"idle": points}, machine={"cores": 8})
        return rows_of(claims_table([found]), "P8")[0]

    assert ratio(0.01).decision == "reproduced"
    disturbed_row = ratio(1.0)
    assert disturbed_row.decision == "inconclusive"
    assert "the hypervisor took" in disturbed_row.reason


@pytest.mark.parametrize(("share", "said"), [(None, False), (0.02, False), (0.021, True), (float("nan"), False)])
def test_from_two_percent_on_a_point_counts_as_disturbed(share: float | None, said: bool) -> None:
    assert bool(disturbed(share)) == said


def test_remarks_in_words() -> None:
    assert remark(True) == remark(None) == ""
    assert remark(False, True, "bare").startswith("its samples did not converge and its noise is larger than 5 %")
