# SPDX-License-Identifier: BSD-3-Clause
"""Every formula against numbers worked out by hand, and the cases in which a formula has no value."""

from __future__ import annotations

import math
from typing import Any

import pytest

from analysis.metrics.formulas import METRICS, Times, suspicious, undefined
from workloads.apps.tables import imb
from workloads.apps.tests.outputs import SAMPLES


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
