# SPDX-License-Identifier: BSD-3-Clause
"""What an engine could reach: variant `limit`, a minimal program that moves the same bytes without MPI.

Its thread sleeps for a while after each move, and the best time to sleep is not known beforehand: it is swept. The
interval of one half of the launches is chosen by the other half, and the other way round, so that no launch is judged
at an interval that its own luck chose.

`python -m analysis.limit SESSION...` prints how near the engine comes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.formulas import Metric
from analysis.metrics.times import RankSamples, VariantTimes, launch_times
from analysis.records import frames
from analysis.records.load import identity
from analysis.statistics.interval import ENOUGH_LAUNCHES, Interval
from analysis.statistics.median import median_interval
from analysis.statistics.noise import DISTURBED

LIMIT = "limit"
SWEPT = "wake_us"
ONE_LAUNCH = "one launch: its interval cannot be chosen on other launches"
LEAST = 0.1  # a limit's efficiency below which a share of it says nothing


def judged(points: pd.DataFrame, samples: Mapping[int, RankSamples]) -> tuple[pd.DataFrame, dict[str, list[int]]]:
    """`points` (of one setting) with those of variant `limit` at the points of the other variants, each launch at the
    interval that the other half of the launches chose; and point -> the intervals chosen, microseconds."""
    swept = points[(points["variant"] == LIMIT) & points[SWEPT].notna()] if SWEPT in points else points.iloc[:0]
    if not len(swept):
        return points, {}
    swept = swept.assign(point=[_without_interval(point) for point in swept["point"]])
    halves = {repetition: index % 2 for index, repetition in enumerate(sorted(set(swept["repetition"])))}
    half = swept["repetition"].map(halves)
    kept, chosen = [points.drop(swept.index)], {}
    for (point,), rows in frames.groups(swept, ["point"]):
        best = [_best(rows[half[rows.index] == which], samples) for which in (1, 0)]  # of half 0, of half 1
        for which, interval in enumerate(best):
            mine = rows[half[rows.index] == which]
            if interval is not None:
                kept.append(mine[mine[SWEPT] == interval])
            elif (mine["status"] == "ok").any():
                kept.append(mine.assign(status="skipped", reason=ONE_LAUNCH))
            else:
                kept.append(mine)
        chosen[point] = sorted({int(interval) for interval in best if interval is not None})
    return pd.concat(kept), chosen


def _without_interval(point: str) -> str:
    return identity({name: value for name, value in json.loads(point).items() if name != SWEPT})


def _best(rows: pd.DataFrame, samples: Mapping[int, RankSamples]) -> float | None:
    """The interval with the least median total over these launches; None where none has a total."""
    totals: dict[float, list[float]] = {}
    rng = np.random.default_rng(0)
    for (interval, _), ranks in frames.groups(rows[rows["status"] == "ok"], [SWEPT, "launch"]):
        usable = [samples[row] for row in ranks.index if row in samples]
        total = launch_times(usable, json.loads(ranks["point"].iloc[0]).get("pattern"), rng).medians["total"]
        if np.isfinite(total):
            totals.setdefault(interval, []).append(total)
    return min(totals, key=lambda interval: float(np.median(totals[interval])), default=None)


def chosen_words(intervals: Sequence[int]) -> str:
    """ "wakes every 500 µs or 2000 µs, as the other half of the launches chose"."""
    return f"wakes every {' or '.join(f'{x} µs' for x in intervals)}, as the other half of the launches chose"


@dataclass(frozen=True)
class Against:
    """How a variant compares with the limit, over `used` of the `rounds` that were measured."""

    interval: Interval
    used: int
    rounds: int


def against(metric: Metric, mine: VariantTimes, limit: VariantTimes, bare: VariantTimes) -> Against:
    """How a variant compares with the limit, paired by round: an efficiency as a share of the limit's, another metric
    as the difference to it. A round gives one value: comm and comp are those of bare in the same round. One that lacks
    a launch, or whose limit is too low to be shared, gives none."""
    values = []
    for turn in sorted(set(mine.rounds) & set(limit.rounds) & set(bare.rounds)):
        here, there = (float(metric.value(times.in_round(turn, bare))) for times in (mine, limit))
        if metric.name != "overlap_efficiency":
            values.append(here - there)
        elif there >= LEAST:
            values.append(here / there)
    values = [value for value in values if np.isfinite(value)]
    return Against(median_interval(values), len(values), len({*mine.rounds, *limit.rounds, *bare.rounds}))


def columns(found: Against) -> dict[str, Any]:
    """The columns of evaluate()'s frame that say it."""
    names = ("value", "low", "high", "defensible")
    return {f"against_limit_{name}": getattr(found.interval, name) for name in names} | {
        "against_limit": found.interval.kind,
        "against_limit_used": found.used,
        "against_limit_rounds": found.rounds,
    }


def rounds_words(row: Mapping[str, Any]) -> str:
    """ "5 of 6 rounds", of a row of evaluate()'s frame."""
    return f"{int(row['against_limit_used'])} of {int(row['against_limit_rounds'])} rounds"


def doubts(row: Mapping[str, Any], compared: Iterable[Mapping[str, Any]]) -> list[str]:
    """Why what such a row says of the limit is no proof; `compared` are the rows of all variants that it is about."""
    said = []
    if not row["against_limit_defensible"]:
        said.append(f"{rounds_words(row)} give a value and {ENOUGH_LAUNCHES} are needed")
    shares = [float(one["disturbance"]) for one in compared if (one.get("disturbance") or 0) > DISTURBED]
    if shares:
        said.append(f"others took {100 * max(shares):.0f} % of the measured time")
    return said
