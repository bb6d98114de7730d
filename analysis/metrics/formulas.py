# SPDX-License-Identifier: BSD-3-Clause
"""The metrics of overlap: name, formula, what is perfect, where it comes from.

Workloads measure times and compute no metric; these functions turn medians into metrics. They take scalars or NumPy
arrays (bootstrap draws) alike, all in seconds, and give NaN where the formula has no value.

comm and comp are the REFERENCE: those of `bare` in the same session, system, MPI and point. A thread that always
spins would otherwise slow its own reference and look harmless.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

Values = Any  # float or ndarray: the formulas are written once for both


@dataclass(frozen=True)
class Times:
    """Medians of one point. total: the acknowledgement already subtracted; own_*: of the variant itself."""

    comm: Values
    comp: Values
    total: Values
    comp_in: Values
    wait: Values
    own_comm: Values
    own_comp: Values
    cpu: Values = np.nan
    post: Values = np.nan

    @classmethod
    def names(cls) -> list[str]:
        return [field.name for field in fields(cls)]


@dataclass(frozen=True)
class Metric:
    """One metric. `ideal(comp, comm)` is what perfect overlap gives; `better` says which way is good."""

    name: str
    title: str
    formula: str
    ideal: Callable[[Values, Values], Values]
    ideal_text: str
    source: str
    better: str
    value: Callable[[Times], Values]
    serial: Callable[[Values, Values], Values] | None = None
    own_only: bool = False  # no time of the reference is in the formula

    @property
    def uses_comm(self) -> bool:
        """Whether the time of communication alone decides the value."""
        return "comm" in self.formula


def divide(above: Values, below: Values) -> Values:
    """above / below, NaN where below is not positive."""
    above, below = np.asarray(above, dtype=float), np.asarray(below, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, above / np.where(below > 0, below, np.nan), np.nan)[()]


def one(comp: Values, comm: Values) -> Values:
    return np.ones_like(np.asarray(comp + comm, dtype=float))[()]


def osu_overlap(t: Times) -> Values:
    """osu_ibcast and its siblings: max(0, 100 - 100 (overall - compute) / pure communication), the variant's own times.

    OSU Micro-Benchmarks, print_stats_nbc in util/osu_util_mpi.c (osu_coll.c before version 5): compute is what was
    measured between the call and MPI_Wait, less the time in MPI_Test, of which there is none here.
    """
    return np.maximum(0, 100 - 100 * divide(t.total - t.comp_in, t.own_comm))


def imb_overlap(t: Times) -> Values:
    """IMB-NBC: 100 max(0, min(1, (t_pure + t_CPU - t_ovrl) / max(t_pure, t_CPU))), the variant's own times.

    Intel MPI Benchmarks User Guide, "Measuring Communication and Computation Overlap": t_CPU is the computation "when
    run concurrently with the nonblocking communication", so comp_in. The guide divides by the smaller of the two, the
    program by the larger (src_c/IMB_output.c). What the program prints is what a reader compares with: the larger.
    """
    return 100 * np.clip(divide(t.own_comm + t.comp_in - t.total, np.maximum(t.own_comm, t.comp_in)), 0, 1)


def balance(comp: Values, comm: Values) -> Values:
    """The shorter of the two over the longer: what of the longer the shorter can hide behind."""
    return divide(np.minimum(comp, comm), np.maximum(comp, comm))


_METRICS = [
    Metric(
        "overlap_efficiency",
        "overlap efficiency",
        "(comp + comm − total) / min(comp, comm)",
        one,
        "1",
        "0 is serial, below 0 slower than serial",
        "higher",
        lambda t: divide(t.comp + t.comm - t.total, np.minimum(t.comp, t.comm)),
        lambda comp, comm: 0 * one(comp, comm),
    ),
    Metric(
        "overlap_ratio",
        "overlap ratio",
        "total / comp",
        lambda comp, comm: np.maximum(1, divide(comm, comp)),
        "max(1, comm / comp)",
        "Denis, pioman, PDP 2015, figures 7 and 8",
        "lower",
        lambda t: divide(t.total, t.comp),
        lambda comp, comm: 1 + divide(comm, comp),
    ),
    Metric(
        "send_time",
        "send time",
        "total",
        np.maximum,
        "max(comp, comm)",
        "Denis, pioman, PDP 2015, figure 9",
        "lower",
        lambda t: t.total,
        lambda comp, comm: comp + comm,
        own_only=True,
    ),
    Metric(
        "slowdown",
        "slowdown against perfect overlap",
        "total / max(comp, comm)",
        one,
        "1",
        "send time (figure 9 of pioman) as a share of what it could be",
        "lower",
        lambda t: divide(t.total, np.maximum(t.comp, t.comm)),
        lambda comp, comm: divide(comp + comm, np.maximum(comp, comm)),
    ),
    Metric(
        "compute_inflation",
        "compute slowdown",
        "comp_in / comp",
        one,
        "1",
        "what progress took from the computation",
        "lower",
        lambda t: divide(t.comp_in, t.comp),
    ),
    Metric(
        "availability",
        "availability",
        "comp / total",
        lambda comp, comm: np.minimum(1, divide(comp, comm)),
        "min(1, comp / comm)",
        "COMB (Lawry et al., CLUSTER 2002); Sandia's SMB has another, which `host-overhead` measures",
        "higher",
        lambda t: divide(t.comp, t.total),
        lambda comp, comm: divide(comp, comp + comm),
    ),
    Metric(
        "hidden_communication",
        "hidden communication",
        "1 − (total − comp_in) / comm",
        lambda comp, comm: np.minimum(1, divide(comp, comm)),
        "min(1, comp / comm)",
        "what of the communication is not exposed: its start, its wait and what moves after the wait are; what it took "
        "from the computation is not seen here",
        "higher",
        lambda t: 1 - divide(t.total - t.comp_in, t.comm),
        lambda comp, comm: 0 * one(comp, comm),
    ),
    Metric(
        "cores_used",
        "cores used",
        "cpu / total",
        one,
        "1",
        "CPU time of the process, its threads included, over the time: 2 where a thread spins on a core of its own",
        "lower",
        lambda t: divide(t.cpu, t.total),
        own_only=True,
    ),
    Metric(
        "remainder",
        "exposed communication",
        "total − comp",
        lambda comp, comm: np.maximum(0, comm - comp),
        "max(0, comm − comp)",
        "Fukuoka et al., MPI+myth, HPCC 2019",
        "lower",
        lambda t: t.total - t.comp,
        lambda comp, comm: comm + 0 * comp,
    ),
    Metric(
        "added_time",
        "time added",
        "total − max(comp, comm)",
        lambda comp, comm: 0 * one(comp, comm),
        "0",
        "seconds; said in place of an efficiency whose denominator is too short to divide by",
        "lower",
        lambda t: t.total - np.maximum(t.comp, t.comm),
        np.minimum,
    ),
    Metric(
        "standing_cost",
        "overhead (idle)",
        "own comp / comp",
        one,
        "1",
        "the same computation under the variant, nothing pending",
        "lower",
        lambda t: divide(t.own_comp, t.comp),
    ),
    Metric(
        "osu_overlap",
        "overlap by OSU's formula (%)",
        "max(0, 100 − 100 (total − comp_in) / own comm)",
        lambda comp, comm: 100 * np.minimum(1, divide(comp, comm)),
        "100 min(1, comp / comm)",
        "OSU Micro-Benchmarks; for cross-reading only: it does not see stolen cycles",
        "higher",
        osu_overlap,
        own_only=True,
    ),
    Metric(
        "imb_overlap",
        "overlap by IMB's formula (%)",
        "100 max(0, min(1, (own comm + comp_in − total) / max(own comm, comp_in)))",
        lambda comp, comm: 100 * balance(comp, comm),
        "100 min(comp, comm) / max(comp, comm)",
        "Intel MPI Benchmarks, what IMB-NBC prints; for cross-reading only: its computation time is taken while the "
        "thread runs",
        "higher",
        imb_overlap,
        own_only=True,
    ),
]

METRICS = {metric.name: metric for metric in _METRICS}
COMP_EQUALS_COMM = 0.05  # "comp = comm": within 5 % of that MPI's own bare median of comm


LEAST_EFFICIENCY, WIDEST_EFFICIENCY = -1.0, 1.0  # of an interval: its lower end, its whole width


def efficiency_says_little(low: float, high: float) -> bool:
    """Whether an overlap efficiency with this interval is better said as added_time: min(comp, comm) is then so short
    that what total and its noise have beside it makes the ratio absurd (-369 at 64 KB)."""
    return low < LEAST_EFFICIENCY or high - low > WIDEST_EFFICIENCY


NO_COMPUTATION = "no computation: nothing to overlap with"  # by the point's nature, whatever was measured


def undefined(metric: Metric, times: Times, clock_resolution_s: float | None) -> str | None:
    """Why `metric` of these (scalar) medians has no meaning; None where it is sound."""
    if np.isnan(times.total):
        return "no samples of total"
    if metric.name not in ("send_time", "cores_used") and (np.isnan(times.comm) or np.isnan(times.comp)):
        return "no reference: the variant bare has no usable samples of this point"
    if metric.uses_comm and clock_resolution_s is not None and times.comm <= clock_resolution_s:
        return f"the communication ({times.comm:.2g} s) is below the clock's resolution ({clock_resolution_s:.2g} s)"
    if np.isnan(as_float(metric.value(times))):
        return NO_COMPUTATION if times.comp == 0 else "a time of the formula is missing or zero"
    return None


def suspicious(times: Times) -> str | None:
    """What is impossible in a steady machine, though the metrics have a value."""
    if times.total < np.minimum(times.comp, times.comm):
        return "total is below both its parts: the reference and the point were not measured under the same conditions"
    return None


def as_float(value: npt.ArrayLike) -> float:
    return float(np.asarray(value))
