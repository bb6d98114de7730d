# SPDX-License-Identifier: BSD-3-Clause
"""Claims say no more than what is measured: against data that contradict a sentence or do not test it, launches that
failed, and noise."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.claims.decision import Decision
from analysis.claims.table import Row
from analysis.claims.table import table as claims_table
from analysis.evidence import Evidence, remark
from analysis.measures import Growth, Median, MetricAt, Ratio
from analysis.records.frames import NOISE_FIELDS, disturbance, disturbed
from analysis.records.load import load
from analysis.statistics.interval import Interval, chance_above, simultaneous
from analysis.tests.synthetic import USUAL, Behaviour, Synthetic, changed_points, edited
from analysis.tests.test_claims import rows_of, study_session
from analysis.tests.test_compare import TIMEOUT, timed_out

Points = dict[str, list[dict[str, Any]]]
RDMA = {"cores": 8, "nics": [{"name": "ib0", "driver": "mlx5_core"}]}
YES, NO, OPEN = Decision.REPRODUCED.value, Decision.NOT_REPRODUCED.value, Decision.INCONCLUSIVE.value


def along(name: str, quantity: str, values: dict[int, float], **more: Any) -> list[dict[str, Any]]:
    """A point for each value of the parameter `name`, whose samples lie about what is given."""
    return [
        {"point": {name: place, **more}, "samples": {quantity: [value, value * 0.9999, value * 1.0001]}}
        for place, value in values.items()
    ]


def line(name: str, start: float, slope: float) -> list[dict[str, Any]]:
    return along(name, "latency_s", {n: start + slope * n for n in (1, 2, 4, 8)})


def power(exponent: float) -> list[dict[str, Any]]:
    return along("receivers", "latency_s", {n: 1e-6 * n**exponent for n in (1, 2, 4, 8)})


def flavours(off: float, explicit: float, idle: float) -> Points:
    return {
        name: along("size_bytes", "latency_s", {1: value})
        for name, value in (("off", off), ("explicit", explicit), ("idle", idle))
    }


def timer(at_1: float, at_10: float = 1.0) -> Points:
    return {"timer": along("timer_ms", "latency_s", {1: at_1, 10: at_10, 100: 1.0})}


QUADRATIC = {n: 1e-6 * n**2 for n in (1, 2, 4, 8)}


def arrived(posting: str, share: float) -> dict[str, Any]:
    return {"point": {"posting": posting, "size_bytes": 4 << 20}, "samples": {"arrived_early": [share] * 3}}


def seldom(quantity: str, usual: float, odd: float, **point: Any) -> list[dict[str, Any]]:
    """In two of five samples something else."""
    return [{"point": point, "samples": {quantity: [usual, odd, usual, odd, usual]}}]


def ends(name: str, quantity: str, values: Sequence[float], places: Sequence[Any]) -> list[dict[str, Any]]:
    """Exactly these values, as counters have them."""
    return [
        {"point": {name: place, "threading": "ult", "size_bytes": 1}, "samples": {quantity: [value] * 3}}
        for place, value in zip(places, values, strict=True)
    ]


def decided(tmp_path: Path, study: str, measured: Points, subject: str, place: int) -> Row:
    session = study_session(tmp_path / "s", study, measured, machine=RDMA, mpi="openmpi")  # of which all claims speak
    return rows_of(claims_table([session]), subject)[place]


def loaded(exponent: float) -> Points:
    return {"bare": along("computing_threads", "latency_s", {n: n**exponent for n in (16, 32, 64)}, size_bytes=1 << 20)}


WAITING = ("remove", "reinsert")


@pytest.mark.parametrize(
    ("study", "measured", "subject", "place", "expected"),
    [
        pytest.param("timer-period", timer(0.9), "P5", 0, NO, id="equal: also not faster"),
        pytest.param("timer-period", timer(1.0, 1.1), "P5", 0, NO, id="equal: also between"),
        pytest.param("timer-period", timer(1.001, 0.999), "P5", 0, YES, id="equal"),
        pytest.param("one-to-many", {"bare-multiple": power(2)}, "P8", 1, NO, id="linear: not quadratic"),
        pytest.param("one-to-many", {"bare-multiple": line("receivers", 1e-5, 1e-6)}, "P8", 1, YES, id="linear"),
        pytest.param("one-to-many", {"bare-multiple": line("receivers", 1e-5, 0)}, "P8", 1, OPEN, id="linear: flat"),
        pytest.param(
            "many-to-many",
            {"bare-multiple": line("pairs", 10, 1), "idle": line("pairs", 2, 1.7)},
            "P8", 2, NO, id="slope: low, but steeper",
        ),
        pytest.param(
            "many-to-many",
            {"bare-multiple": line("pairs", 10, 1), "idle": line("pairs", 14, 0.5)},
            "P8", 2, YES, id="slope: high, but less steep",
        ),
        pytest.param("latency-flavours", flavours(2e-6, 2.19e-6, 2.35e-6), "P6", 0, NO, id="100 ns: 190 of 2000"),
        pytest.param("latency-flavours", flavours(2e-6, 2e-6, 2.1e-6), "P6", 0, NO, id="100 ns: none"),
        pytest.param("latency-flavours", flavours(2e-6, 2.1e-6, 2.25e-6), "P6", 0, YES, id="100 ns"),
        pytest.param("latency-flavours", flavours(19e-6, 20e-6, 23.8e-6), "P6", 1, NO, id="200 ns: 3.8 us of 20"),
        pytest.param(
            "context-switches",
            {"adaptive": seldom("switches_per_s", 0.0, 50.0, pending=False)},
            "R2", 1, NO, id="never: two of five",
        ),
        pytest.param(
            "early-arrival",
            {"bare": seldom("arrived_early", 1.0, 0.0, posting="receives-first")},
            "G2", 0, NO, id="every: not two of five",
        ),
        pytest.param(
            "many-to-many", {"bare-multiple": line("pairs", 10, 1), "idle": along("pairs", "latency_s", QUADRATIC)},
            "P8", 3, NO, id="linear with the engine: quadratic",
        ),
        pytest.param("n-load", loaded(1), "P9", 2, YES, id="linear in the load"),
        pytest.param("n-load", loaded(2), "P9", 2, NO, id="linear in the load: quadratic"),
        pytest.param("latency-flavours", flavours(2e-6, 2.1e-6, 2.3e-6), "P6", 2, NO, id="best latency: 10 % more"),
        pytest.param("latency-flavours", flavours(2e-6, 2.1e-6, 2.12e-6), "P6", 2, YES, id="best latency"),
        pytest.param(
            "latency-idle-period",
            {"idle": [{"point": {"period_us": 1, "size_bytes": 1}, "samples": {"latency_s": [1.0, 1.0, 1.0, 9.0]}}]},
            "P3", 4, NO, id="close to the median: one of four is late",
        ),
        pytest.param(
            "early-arrival",
            {"bare": [arrived("receives-first", 1.0), arrived("sends-first", 0.2)]},
            "G2", 1, YES, id="sends first: fewer halos",
        ),
        pytest.param(
            "early-arrival",
            {"bare": [arrived("receives-first", 1.0), arrived("sends-first", 1.0)]},
            "G2", 1, OPEN, id="sends first: as many",
        ),
        pytest.param(
            "context-switches",
            {name: seldom("switches_per_s", rate, rate, pending=True) for name, rate in
             (("adaptive", 354.0), ("mpi-async", 131.0))},
            "R2", 2, NO, id="fewer than mpi-async: more",
        ),
        pytest.param("ult-overlap", {"offload": ends("mat_size", "remainder_s", (1, 1), (1, 9))}, "F2", 0, OPEN,
                     id="shrinks: equal"),
        pytest.param("waiting", {"offload": ends("waiting", "imbalance", (1.5, 1.5), WAITING)}, "F3", 1, OPEN,
                     id="better: equal"),
        pytest.param(
            "latency-idle-period",
            {"idle": along("period_us", "latency_s", {1: 1.0, 10000: 1.0}, size_bytes=1)},
            "P3", 0, YES, id="hardly moves",
        ),
        pytest.param(
            "latency-idle-period",
            {"idle": ends("period_us", "latency_s", (1.0, 1.0), (1, 10000))},
            "P3", 1, OPEN, id="rises: equal",
        ),
        pytest.param(
            "fft",
            dict.fromkeys(("bare", "adaptive"), ends("mode", "elapsed_s", (1, 0.65), ("blocking", "pipelined"))),
            "R3", 1, NO, id="44 % or a tenth less: 35 %",
        ),
        pytest.param(
            "compute-idle-period",
            {"idle": along("period_us", "elapsed_s", {0: 1.0, 1000: 1.0}, **{"class": "A"})},
            "P4", 0, Decision.NOT_MEASURED.value, id="class B: A",
        ),
        pytest.param(
            "compute-idle-period",
            {"idle": along("period_us", "elapsed_s", {0: 0.98, 1000: 1.0}, **{"class": "B"})},
            "P4", 0, NO, id="less than 0.5 %: 2 % faster",
        ),
    ],
)  # fmt: skip
def test_data_that_contradict_a_sentence_do_not_prove_it(
    tmp_path: Path, study: str, measured: Points, subject: str, place: int, expected: str
) -> None:
    assert decided(tmp_path, study, measured, subject, place).decision == expected


def test_always_is_refuted_by_one_launch(tmp_path: Path) -> None:
    def loads(slowest: float) -> list[dict[str, Any]]:
        samples = {"latency_s": [0.01, slowest, 0.01]}
        return [{"point": {"computing_threads": n, "size_bytes": 1 << 20}, "samples": samples} for n in (0, 4)]

    session = study_session(tmp_path / "s", "n-load", {"idle": loads(0.012)}, launches=11)
    assert rows_of(claims_table([session]), "P9")[1].decision == YES
    odd = study_session(tmp_path / "odd", "n-load", {"idle": loads(0.5)}, launches=1)
    for file in (odd / "records").iterdir():
        text = file.read_text().replace("mpich.idle0", "mpich.idle99")
        (session / "records" / "mpich.idle99.jsonl").write_text(text)
    row = rows_of(claims_table([session]), "P9")[1]
    assert (row.decision, row.value, row.interval) == (NO, 0.5, "max of all samples of 12 launches, no interval")


def test_another_size_is_not_that_of_the_claim(tmp_path: Path) -> None:
    made = Synthetic(mpis={"mpich": {"bare": Behaviour(0.05)}}, study="large-messages", comp_over_comm=(1.0,))
    (row,) = rows_of(claims_table([made.write(tmp_path / "s")]), "G4")
    assert (row.decision, row.value) == (Decision.NOT_MEASURED.value, None)
    assert "no point has what this claim needs" in row.reason


def test_other_than_two_processes_are_not_those_of_the_claim(tmp_path: Path) -> None:
    session = study_session(
        tmp_path / "s",
        "compute-idle-period",
        {"idle": along("period_us", "elapsed_s", {0: 1.0, 1000: 1.0}, **{"class": "B"})},
    )
    for file in (session / "records").iterdir():
        file.write_text(file.read_text().replace('"world_size": 2', '"world_size": 4'))
    (row,) = rows_of(claims_table([session]), "P4")
    assert (row.decision, row.reason) == (Decision.NOT_TESTABLE.value, "the paper's 2 processes; here 4")


def test_the_best_of_several_others_is_not_taken_for_better_than_it_is(tmp_path: Path) -> None:
    """Six others, all alike: the fastest was lucky, and the interval says so."""
    rng = np.random.default_rng(1)
    mpis = ("a", "b", "c")
    for mpi in mpis:
        for variant in ("bare", "mpi-async", "adaptive"):
            for number in range(6):
                point = [{"point": {"size_bytes": 1}, "samples": {"total_s": [float(np.exp(rng.normal(0, 0.02)))]}}]
                one = study_session(tmp_path / "one", "s", {variant: point}, launches=1, mpi=mpi)
                (file,) = (one / "records").glob(f"{mpi}.{variant}0.jsonl")
                target = tmp_path / "s" / "records" / f"{mpi}.{variant}{number}.jsonl"
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(file.read_text().replace(f"{mpi}.{variant}0", f"{mpi}.{variant}{number}"))
    (tmp_path / "s" / "session.json").write_text('{"session": "s"}')
    evidence = Evidence(load([tmp_path / "s"]))
    for value in Ratio("total_s", "adaptive", "best other")(evidence, "s"):
        assert value.interval.kind.endswith("simultaneous over 6 points")
    for value in Ratio("total_s", "adaptive", "best own")(evidence, "s"):
        assert value.interval.kind.endswith("simultaneous over 2 points")


def test_the_chance_of_an_interval_is_that_at_which_it_reaches_the_bound() -> None:
    alone = Interval(1.10, 1.05, 1.2, "95 % interval", True, freedom=5.0)
    for points in (1, 3, 60):
        bound = simultaneous(alone, points).low
        assert chance_above(alone, bound) == pytest.approx(0.025 / points)
    assert chance_above(alone, 1.2) == 1


WHY = "timeout: did not end within 60 s"
LARGE = 8 << 20


def send_time(folder: Path, **made: Any) -> Path:
    mpis = {"mpich": {"bare": Behaviour(0.1), "adaptive": Behaviour(0.98)}}
    return Synthetic(mpis=mpis, study="send-time", sizes=(1 << 20, LARGE), comp_s=(0.01,), **made).write(folder)


def p2(session: Path) -> Row:
    return next(row for row in rows_of(claims_table([session]), "P2") if row.mpi == "mpich")


def test_a_size_that_failed_keeps_the_worst_size_open(tmp_path: Path) -> None:
    assert p2(send_time(tmp_path / "good")).decision == "reproduced"

    def hung(session: Path, files: str) -> Path:
        for lines in edited(session, files):
            lines[1:-1] = [line | TIMEOUT if line["point"]["size_bytes"] == LARGE else line for line in lines[1:-1]]
        return session

    row = p2(hung(send_time(tmp_path / "s"), "*adaptive*"))
    assert (row.decision, row.reason) == ("inconclusive", WHY)
    bare = p2(hung(send_time(tmp_path / "b"), "*bare*"))
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
    skipped = changed_points(made.write(tmp_path / "k"), "*openmpi*bare*", **(TIMEOUT | {"status": "skipped"}))
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


def p1(session: Path) -> Any:
    return rows_of(claims_table([session]), "P1")[0]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return Synthetic(mpis={"mpich": VARIANTS}, comp_over_comm=(1.0,)).write(tmp_path / "s")


def test_a_quiet_point_decides_without_a_remark(session: Path) -> None:
    assert (p1(session).decision, p1(session).reason) == ("reproduced", "")


def test_a_disturbed_point_cannot_decide(session: Path) -> None:
    row = p1(changed_points(session, "*.adaptive.jsonl", noise={"steal_s": 0.5}))
    assert row.decision == "inconclusive"
    assert "the machine was disturbed: something else took" in row.reason


def test_a_little_steal_does_not_bar(session: Path) -> None:
    assert p1(changed_points(session, "*.adaptive.jsonl", noise={"steal_s": 0.01})).decision == "reproduced"


def test_samples_that_did_not_converge_are_named_beside_the_decision(session: Path) -> None:
    row = p1(changed_points(session, "*.adaptive.jsonl", converged=False))
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
    assert "something else took" in disturbed_row.reason


@pytest.mark.parametrize(
    ("noise", "share"),
    [
        ({}, None),
        ({"steal_s": 0.1}, 0.05),
        ({"steal_s": 0.1, "watched_s": 1.0}, 0.1),
        ({"others_s": 0.3, "watched_s": 1.0}, 0.2),
        ({"others_s": 0.1, "watched_s": 1.0}, 0.0),  # no more than ticks may be wrong by
        ({"others_s": -0.1, "steal_s": 0.1, "watched_s": 1.0}, 0.1),
        ({"involuntary_switches": 50_000, "watched_s": 1.0}, 0.15),
        ({"involuntary_switches": 50_000, "others_s": 0.3, "watched_s": 1.0}, 0.2),
    ],
)
def test_what_others_took(noise: dict[str, float], share: float | None) -> None:
    found = disturbance(pd.DataFrame([noise], columns=NOISE_FIELDS), measured_s=2.0)
    assert found == (share if share is None else pytest.approx(share))


@pytest.mark.parametrize(("share", "said"), [(None, False), (0.02, False), (0.021, True), (float("nan"), False)])
def test_from_two_percent_on_a_point_counts_as_disturbed(share: float | None, said: bool) -> None:
    assert bool(disturbed(share)) == said


def test_remarks_in_words() -> None:
    assert remark(True) == remark(None) == ""
    assert remark(False, True, "bare").startswith("its samples did not converge and its noise is larger than 5 %")
