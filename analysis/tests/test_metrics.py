# SPDX-License-Identifier: BSD-3-Clause
"""Every formula against numbers worked out by hand, and the cases in which it has no value; and from records to
metrics: the truth that the synthetic sessions were made with must come out."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.metrics.evaluate import evaluate
from analysis.metrics.formulas import METRICS, Times, suspicious, undefined
from analysis.records.load import load
from analysis.tests.synthetic import MB, Behaviour, Synthetic, edited
from harness.codes.benchmark_output import imb
from harness.codes.tests.outputs import SAMPLES


def times(**changed: float) -> Times:
    """comm 10 ms, comp 8 ms, total 11 ms, of which 9 ms in the compute section and 1.5 ms waiting."""
    values: dict[str, Any] = {
        "comm": 0.010,
        "comp": 0.008,
        "total": 0.011,
        "comp_in": 0.009,
        "wait": 0.0015,
        "own_comm": 0.012,
        "own_comp": 0.0085,
        "cpu": 0.0165,
    }
    return Times(**{**values, **changed})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("overlap_efficiency", (8 + 10 - 11) / 8),
        ("overlap_ratio", 11 / 8),
        ("send_time", 0.011),
        ("slowdown", 11 / 10),
        ("compute_inflation", 9 / 8),
        ("availability", 8 / 11),
        ("hidden_communication", 1 - (11 - 9) / 10),
        ("cores_used", 1.5),
        ("remainder", 0.003),
        ("added_time", 0.001),
        ("standing_cost", 8.5 / 8),
        ("osu_overlap", 100 - 100 * (11 - 9) / 12),
        ("imb_overlap", 100 * (12 + 9 - 11) / 12),
    ],
)
def test_formula(name: str, expected: float) -> None:
    assert METRICS[name].value(times()) == pytest.approx(expected)


def test_every_metric_is_tested_and_says_what_it_is() -> None:
    assert len(METRICS) == 13
    assert all(metric.formula and metric.ideal_text and metric.source for metric in METRICS.values())


def test_what_moves_after_the_wait_is_not_hidden() -> None:
    """As of Open MPI, bare: the send completes when the socket has the data, and the message moves after the wait."""
    sent = times(comm=0.0328, comp=0.0328, total=0.0656, comp_in=0.0328, wait=0.0006)
    assert METRICS["hidden_communication"].value(sent) == pytest.approx(0.0)


@pytest.mark.parametrize("comp", [0.004, 0.010, 0.025])
def test_perfect_and_serial_runs_reach_what_the_table_promises(comp: float) -> None:
    comm = 0.010
    perfect = times(
        comm=comm,
        comp=comp,
        total=max(comp, comm),
        comp_in=comp,
        wait=max(0.0, comm - comp),
        own_comm=comm,
        own_comp=comp,
        cpu=max(comp, comm),
    )
    serial = times(comm=comm, comp=comp, total=comp + comm, comp_in=comp, wait=comm, own_comm=comm, own_comp=comp)
    for metric in METRICS.values():
        assert metric.value(perfect) == pytest.approx(metric.ideal(comp, comm), abs=1e-12), metric.name
        if metric.serial:
            assert metric.value(serial) == pytest.approx(metric.serial(comp, comm), abs=1e-12), metric.name


def test_stolen_cycles_are_seen_by_efficiency_and_not_by_the_others_formulas() -> None:
    """The thread takes half of the core: slower than serial, yet IMB's formula sees overlap (studies.md)."""
    stolen = times(comm=0.010, comp=0.010, total=0.022, comp_in=0.020, wait=0.002, own_comm=0.012, own_comp=0.020)
    assert METRICS["overlap_efficiency"].value(stolen) == pytest.approx(-0.2)
    assert METRICS["compute_inflation"].value(stolen) == pytest.approx(2.0)
    assert METRICS["imb_overlap"].value(stolen) == pytest.approx(100 * (12 + 20 - 22) / 20)
    assert METRICS["osu_overlap"].value(stolen) == pytest.approx(100 - 100 * 2 / 12)


def test_imb_takes_the_computation_measured_during_the_communication() -> None:
    """t_pure 12, t_CPU 9, t_ovrl 18 ms: 3 of 12 are hidden, whatever the computation takes alone."""
    assert METRICS["imb_overlap"].value(times(total=0.018)) == pytest.approx(100 * 3 / 12)
    assert METRICS["imb_overlap"].value(times(total=0.018, own_comp=0.001)) == pytest.approx(100 * 3 / 12)


def test_imbs_formula_gives_what_imb_printed() -> None:
    """Of every row of a real output of IMB-NBC; it prints times and percentages with two decimals."""
    rows = [row.samples for row in imb(SAMPLES["imb-2021-nbc"]).rows if "overlap" in row.samples]
    assert len(rows) == 25
    assert sum(row["overlap"] > 0 for row in rows) == 11
    for row in rows:
        mine = times(own_comm=row["pure_s"], comp_in=row["compute_s"], total=row["overall_s"])
        assert METRICS["imb_overlap"].value(mine) == pytest.approx(100 * row["overlap"], abs=0.02)


def test_the_others_formulas_where_a_part_is_missing() -> None:
    nothing = times(comp=0.0, comp_in=0.0, own_comp=0.0, total=0.012)
    assert METRICS["osu_overlap"].value(nothing) == pytest.approx(0)
    assert METRICS["imb_overlap"].value(nothing) == pytest.approx(0)
    silent = times(comm=5e-10, own_comm=0.0)
    assert math.isnan(METRICS["osu_overlap"].value(silent))
    assert METRICS["imb_overlap"].value(silent) == 0, "as it prints of a communication that takes no time"
    for name in ("osu_overlap", "imb_overlap"):
        assert "below the clock's resolution" in (undefined(METRICS[name], silent, 1e-9) or "")
    impossible = times(total=0.007)  # below both parts: IMB cuts at 100, OSU does not
    assert METRICS["imb_overlap"].value(impossible) == 100, "(12 + 9 - 7) / 12 is more than 1"
    assert METRICS["osu_overlap"].value(impossible) == pytest.approx(100 + 100 * 2 / 12)


def test_clamped_formulas_are_clamped() -> None:
    worse = times(total=0.050)
    assert METRICS["osu_overlap"].value(worse) == 0
    assert METRICS["imb_overlap"].value(worse) == 0
    assert METRICS["imb_overlap"].value(times(total=0.001)) == 100


def test_no_computation_has_a_send_time_and_no_ratio() -> None:
    nothing = times(comp=0.0, comp_in=0.0, own_comp=0.0, total=0.010)
    assert undefined(METRICS["send_time"], nothing, 1e-9) is None
    assert METRICS["remainder"].value(nothing) == pytest.approx(0.010)
    for name in ("overlap_efficiency", "overlap_ratio", "compute_inflation", "standing_cost"):
        assert math.isnan(METRICS[name].value(nothing))
        assert undefined(METRICS[name], nothing, 1e-9) == "no computation: nothing to overlap with"


def test_communication_below_the_clocks_resolution_is_not_divided_by() -> None:
    tiny = times(comm=5e-10, own_comm=5e-10)
    assert "below the clock's resolution" in (undefined(METRICS["overlap_efficiency"], tiny, 1e-9) or "")
    assert undefined(METRICS["overlap_ratio"], tiny, 1e-9) is None, "total / comp does not use comm"
    assert undefined(METRICS["overlap_efficiency"], tiny, None) is None, "an unknown resolution cannot forbid"


def test_total_below_both_parts_keeps_its_value_and_is_called_impossible() -> None:
    impossible = times(total=0.007)
    assert METRICS["overlap_efficiency"].value(impossible) == pytest.approx(11 / 8)
    assert "below both" in (suspicious(impossible) or "")
    assert suspicious(times()) is None


def test_without_a_reference_only_what_needs_none_stands() -> None:
    lonely = times(comm=math.nan, comp=math.nan)
    own = {"send_time", "cores_used"}
    assert all(undefined(METRICS[name], lonely, 1e-9) is None for name in own)
    for name in set(METRICS) - own:
        assert "no reference" in (undefined(METRICS[name], lonely, 1e-9) or "")


def metric(frame: pd.DataFrame, name: str, variant: str, **where: object) -> pd.Series:
    part = frame[(frame["metric"] == name) & (frame["variant"] == variant)]
    for column, value in where.items():
        part = part[part[column] == value]
    assert len(part) == 1
    return part.iloc[0]


def exact(**changed: object) -> Synthetic:
    """A session without any spread: every number is known."""
    return Synthetic(**({"launches": 2, "samples": 3, "launch_spread": 0.0, "sample_spread": 0.0} | changed))  # type: ignore[arg-type]


def test_efficiency_and_inflation_are_those_the_session_was_made_with(tmp_path: Path) -> None:
    frame = evaluate(load([exact(patterns=("both", "sender", "receiver")).write(tmp_path / "s")]))
    for pattern in ("both", "sender", "receiver"):
        for ratio in (0.25, 1.0, 4.0):
            where = {"pattern": pattern, "comp_over_comm": ratio}
            assert metric(frame, "overlap_efficiency", "adaptive", **where)["value"] == pytest.approx(0.93, abs=1e-4)
            # No computation is longer than the step that it is in.
            inflation = min(1.97, (ratio + 1 + 0.2 * min(ratio, 1)) / ratio)
            found = metric(frame, "compute_inflation", "mpi-async", **where)["value"]
            assert found == pytest.approx(inflation, abs=1e-4)
            assert metric(frame, "standing_cost", "mpi-async", **where)["value"] == pytest.approx(1.5, abs=1e-4)


def test_the_acknowledgement_is_subtracted(tmp_path: Path) -> None:
    made = exact(comp_over_comm=(1.0,), sizes=(1024,))
    frame = evaluate(load([made.write(tmp_path / "s")]))
    comm, _, total = made.truth({"size_bytes": 1024, "comp_over_comm": 1.0}, Behaviour(0.93))
    found = metric(frame, "send_time", "adaptive")
    assert found["value"] == pytest.approx(total, abs=2e-9)
    assert found["reference_comm_s"] == pytest.approx(comm, abs=2e-9)


def test_an_acknowledgement_that_came_meanwhile_is_not_subtracted(tmp_path: Path) -> None:
    session = exact(comp_over_comm=(1.0,), sizes=(1024,)).write(tmp_path / "s")
    own = ("post_s", "comp_in_s", "wait_s")
    for lines in edited(session, "*adaptive*"):
        for samples in (line["samples"] for line in lines if line.get("samples")):
            samples["total_s"] = [sum(parts) for parts in zip(*(samples[name] for name in own), strict=True)]
            whole = samples["total_s"][0]
    row = metric(evaluate(load([session])), "send_time", "adaptive")
    assert [row[name] for name in ("low", "value", "high")] == pytest.approx([whole] * 3, abs=2e-9)


def test_the_reference_is_bares_even_where_the_variant_slows_its_own(tmp_path: Path) -> None:
    frame = evaluate(load([exact(comp_over_comm=(1.0,)).write(tmp_path / "s")]))
    row = metric(frame, "overlap_ratio", "mpi-async")
    assert row["reference_comp_s"] == pytest.approx(metric(frame, "overlap_ratio", "bare")["reference_comp_s"])
    assert row["value"] == pytest.approx(2.2, abs=1e-4)


def test_intervals_say_what_they_are(tmp_path: Path) -> None:
    for launches, words, defensible in (
        (6, "95 % interval", True),
        (3, "spread of 3", False),
        (1, "one launch", False),
    ):
        made = Synthetic(launches=launches, comp_over_comm=(1.0,)).write(tmp_path / f"s{launches}")
        row = metric(evaluate(load([made])), "overlap_efficiency", "adaptive")
        assert words in row["interval"]
        assert row["defensible"] == defensible
        assert row["low"] < row["value"] < row["high"]


def test_failed_points_and_missing_variants_keep_a_row_with_the_reason(tmp_path: Path) -> None:
    variants = {"bare": Behaviour(0.1), "idle": Behaviour(0.3, fails="timeout"), "adaptive": Behaviour(0.9)}
    session = Synthetic(mpis={"mpich": variants}, launches=1, comp_over_comm=(1.0,)).write(tmp_path / "s")
    file = next((session / "records").glob("*adaptive*"))
    file.write_text("\n".join(file.read_text().splitlines()[:1]) + "\n")  # died before its first point
    frame = evaluate(load([session]))
    idle = metric(frame, "overlap_ratio", "idle")
    assert (idle["status"], idle["reason"], np.isnan(idle["value"])) == ("timeout", "made up", True)
    adaptive = metric(frame, "overlap_ratio", "adaptive")
    assert adaptive["status"] == "missing"
    assert "incomplete" in adaptive["reason"]


def test_without_bare_there_is_a_sentence_in_place_of_a_ratio(tmp_path: Path) -> None:
    session = exact(mpis={"mpich": {"adaptive": Behaviour(0.9)}}, comp_over_comm=(1.0,)).write(tmp_path / "s")
    frame = evaluate(load([session]))
    assert "no reference" in metric(frame, "overlap_efficiency", "adaptive")["note"]
    assert metric(frame, "send_time", "adaptive")["value"] > 0


def test_computation_of_zero(tmp_path: Path) -> None:
    session = exact(study="send-time", comp_s=(0.0,), sizes=(MB,)).write(tmp_path / "s")
    frame = evaluate(load([session]))
    assert metric(frame, "send_time", "bare")["ideal"] == pytest.approx(50e-6 + MB / 120e6, rel=1e-4)
    assert "no computation" in metric(frame, "overlap_ratio", "bare")["note"]


def test_nothing_measured_is_an_empty_frame(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert len(evaluate(load([tmp_path / "empty"]))) == 0


def test_the_same_records_give_the_same_intervals(tmp_path: Path) -> None:
    session = Synthetic(launches=2, comp_over_comm=(1.0,)).write(tmp_path / "s")
    pd.testing.assert_frame_equal(evaluate(load([session])), evaluate(load([session])))


def test_one_sample_has_a_value_and_no_confidence(tmp_path: Path) -> None:
    frame = evaluate(load([Synthetic(launches=1, samples=1, comp_over_comm=(1.0,)).write(tmp_path / "s")]))
    row = metric(frame, "overlap_ratio", "adaptive")
    assert row["value"] > 0
    assert not row["defensible"]


def test_different_work_in_one_point_is_said(tmp_path: Path) -> None:
    session = exact(mpis={"mpich": {"bare": Behaviour(0.1)}}, comp_over_comm=(1.0,)).write(tmp_path / "s")
    file = min((session / "records").glob("*.jsonl"))
    file.write_text(file.read_text().replace('"work_units": 1000', '"work_units": 1100'))
    assert "different amounts of work" in metric(evaluate(load([session])), "overlap_ratio", "bare")["note"]
