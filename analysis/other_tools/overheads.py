# SPDX-License-Identifier: BSD-3-Clause
"""IMB-ASYNC's overheads: what communication and computation lose beside each other, each by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.evidence import Evidence
from analysis.metrics.evaluate import REFERENCE
from analysis.metrics.formulas import Times, divide
from analysis.other_tools.agreement import (
    ALONE,
    EXPOSED,
    PREFIX,
    SLOWED,
    Comparison,
    Outcome,
    Uncompared,
    difference,
    metrics_of,
)
from analysis.other_tools.samples import at, of_tool, until_all_are_done, whole
from analysis.statistics.interval import Interval, middle
from analysis.words import bytes_text

ASYNC = f"{PREFIX}imb-async"
ASYNC_STUDIES = {name: f"{PREFIX}beside-{name}" for name in ("pt2pt", "na2a", "allreduce")}  # its name of it -> ours
LONG = 1.5  # times the communication: what is computed beside it can hide all of it


@dataclass(frozen=True)
class Both:
    """Theirs and ours of a point of IMB-ASYNC's under a variant. `lost`: launches that were left out; `why`: what
    lacks, so that there is nothing to compare."""

    theirs: pd.DataFrame
    ours: pd.DataFrame
    lost: str = ""
    why: str = ""

    @classmethod
    def of(cls, studies: dict[str, pd.DataFrame], name: str, size: int) -> Both:
        found = {
            "theirs": at(studies.get(ASYNC), benchmark=name, size_bytes=size),
            "ours": at(studies.get(ASYNC_STUDIES.get(name, "")), size_bytes=size),
        }
        good = {side: whole(rows) for side, rows in found.items() if rows is not None}
        why = [f"{side} has nothing of it in this setting" for side in found if side not in good]
        why += [f"{side}: {lost}" for side, (rows, lost) in good.items() if not len(rows)]
        lost = "; ".join(f"{side}: {lost}" for side, (_, lost) in good.items() if lost)
        theirs, ours = (good[side][0] if side in good else pd.DataFrame() for side in found)
        return cls(theirs, ours, lost, "; ".join(why))


def overheads(
    evidence: Evidence,
    where: dict[str, Any],
    name: str,
    size: int,
    studies: dict[str, pd.DataFrame],
    bare: dict[str, pd.DataFrame],
) -> Iterator[Outcome]:
    """What is left of a communication beside a computation, and how much longer that takes than under bare: in per
    cent of our communication alone, since both are of the same messages."""
    what = f"{name}, {bytes_text(size)}"
    both, without = Both.of(studies, name, size), Both.of(bare, name, size)
    if both.why:
        yield Uncompared(**where, what=what, why=both.why)
        return
    mine = of_tool(evidence, both.ours, of_osu=True)
    exposed, computed, pure = (
        evidence.launches(both.theirs, quantity, "median") for quantity in ("exposed_s", "compute_s", "pure_s")
    )
    if not (mine and exposed and computed):
        yield Uncompared(**where, what=what, why=f"{'theirs' if mine else 'ours'} has no times of it")
        return
    unsure, loose = evidence.state(both.ours)
    remark = "; ".join(filter(None, [loose, both.lost]))
    alone = [np.array([times.own_comm]) for times in mine]
    if pure:
        found = Comparison.of(where, f"{ALONE}{what}", until_all_are_done(evidence, both.ours), alone, pure)
        words = "; ".join(filter(None, ["theirs is of the blocking call", remark]))
        yield replace(found, unsure=unsure, remark=words, unlike=True)
    unit = float(np.median(alone))
    unsure = "; ".join(filter(None, [unsure, _short(float(np.median(computed)) / unit, mine)]))
    metrics, lacking = metrics_of(evidence, where, both.ours)

    def share(kind: str, metric: str, printed: Interval, same: Interval) -> Outcome:
        if not (ours := metrics.get(metric)):
            return Uncompared(**where, what=f"{kind}{what}", why=f"ours has no {metric}: {lacking.get(metric, '')}")
        return Comparison(**where, what=f"{kind}{what}", ours=ours, same=same, theirs=printed,
                          of_same=difference(printed, same), remark=remark, unsure=unsure)  # fmt: skip

    printed = middle([100 / unit * launch for launch in exposed])
    left = middle([np.array([100 / unit * (times.total - times.comp_in)]) for times in mine])
    yield share(EXPOSED, "hidden_communication", printed, left)
    if where["variant"] == REFERENCE:
        return
    before = [] if without.why else evidence.launches(without.theirs, "compute_s", "median")
    mine_before = [] if without.why else of_tool(evidence, without.ours, of_osu=True)
    if not (before and mine_before):
        why = without.why or "no times of it"
        yield Uncompared(**where, what=f"{SLOWED}{what}", why=f"{REFERENCE}, with which it is compared: {why}")
        return
    inside, inside_before = (
        middle([np.array([times.comp_in]) for times in of_variant]) for of_variant in (mine, mine_before)
    )
    printed = difference(middle(computed), middle(before), 100 / unit)
    yield share(SLOWED, "compute_inflation", printed, difference(inside, inside_before, 100 / unit))


def _short(theirs: float, mine: Sequence[Times]) -> str:
    """Why overheads cannot be compared where a computation is so short that it hides less than it could."""
    ours = float(np.median([divide(times.own_comp, times.own_comm) for times in mine]))
    if min(theirs, ours) >= LONG:
        return ""
    times = f"theirs {theirs:.2f} times as long as the communication, ours {ours:.2f} times"
    return f"the computation takes in {times}: {LONG:g} are needed"
