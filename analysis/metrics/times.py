# SPDX-License-Identifier: BSD-3-Clause
"""From the samples of ranks to the times of a launch, and from launches to draws: what the metrics are made of.

The pattern of a point decides which ranks count. total and comm are those of the ranks that see the communication end:
the senders, whose clock stops when the receiver's acknowledgement has come; its own latency is subtracted, as far as it
was waited for. An acknowledgement that comes while the rank computes costs it nothing: a total is never less than what
the rank itself started, computed and waited for. comp, comp_in and wait are those of the ranks that compute. Where
several ranks count, the slowest one's median is the launch's: a step is over when its last rank is.

Where launches paused their engine by turns, what it changes is told of the pairs within them (analysis/statistics/
pairs.py), in which the launch's own speed cancels; else of a variant's launches and those of bare.

`limit`: what an engine could reach, measured by a minimal program that moves the same bytes without MPI.

Its thread sleeps for a while after each move, and the best time to sleep is not known beforehand: it is swept. The
interval of one half of the launches is chosen by the other half, and the other way round, so that no launch is judged
at an interval that its own luck chose.

`python -m analysis.limit SESSION...` prints how near the engine comes.
"""

from __future__ import annotations

import copy
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.metrics.formulas import Metric, Times, as_float, divide
from analysis.records import frames
from analysis.records.frames import took
from analysis.records.load import Records, identity
from analysis.records.read import ARMED, PAUSED
from analysis.statistics.interval import (
    ENOUGH_LAUNCHES,
    Draws,
    Group,
    Interval,
    effective_groups,
    interval,
    median_interval,
    resampled_medians,
)
from analysis.statistics.pairs import ratio_of_pairs

Array = npt.NDArray[np.float64]
POOL = 256  # bootstrap medians kept of one launch's samples; more changes no interval

# time -> (recorded quantity, whose ranks count, quantity to subtract rank by rank)
SOURCES = {
    "total": ("total_s", "timing", "ack_s"),
    "own_comm": ("comm_s", "timing", "ack_s"),
    "own_comp": ("comp_s", "computing", None),
    "comp_in": ("comp_in_s", "computing", None),
    "wait": ("wait_s", "computing", None),
    "cpu": ("cpu_s", "computing", None),
    "post": ("post_s", "computing", None),
}
BESIDE = ("cpu", "post")  # drawn from copies of the random numbers: the others' intervals are as without them


@dataclass(frozen=True)
class RankSamples:
    """One rank of one launch at one point: quantity -> its samples."""

    role: str | None
    samples: dict[str, Array]


@dataclass(frozen=True)
class LaunchTimes:
    """Of each time the launch's median and a pool of bootstrap medians, shape (POOL,); NaN where not recorded."""

    medians: dict[str, float]
    pools: dict[str, Array]
    samples: int
    pairs: Array | None = None  # of each two steps the log of the whole time with the engine over that without


def counting_ranks(ranks: Sequence[RankSamples], pattern: str | None, which: str) -> list[RankSamples]:
    """The ranks that count for `which` = timing | computing."""
    if which == "timing":
        return [rank for rank in ranks if rank.role == "sender"] or list(ranks)
    if pattern not in ("sender", "receiver"):  # all of a pair, or of a collective
        return list(ranks)
    return [rank for rank in ranks if rank.role == pattern]


def launch_times(ranks: Sequence[RankSamples], pattern: str | None, rng: np.random.Generator) -> LaunchTimes:
    """The times of one launch at one point."""
    medians, pools = {}, {}
    for name, (quantity, which, subtract) in SOURCES.items():
        counting = [rank for rank in counting_ranks(ranks, pattern, which) if quantity in rank.samples]
        drawn = copy.deepcopy(rng) if name in BESIDE else rng
        per_rank = [_rank_time(rank.samples, quantity, subtract, drawn) for rank in counting]
        medians[name] = max((median for median, _ in per_rank), default=float("nan"))
        pools[name] = np.max([pool for _, pool in per_rank], axis=0) if per_rank else np.full(POOL, np.nan)
    count = max((len(rank.samples["total_s"]) for rank in ranks if "total_s" in rank.samples), default=0)
    return LaunchTimes(medians, pools, count, _pairs(counting_ranks(ranks, pattern, "timing")))


def _pairs(ranks: Sequence[RankSamples]) -> Array | None:
    """Of the slowest rank; None where no launch paused its engine by turns."""
    both = [(_whole(rank.samples, ""), _whole(rank.samples, PAUSED)) for rank in ranks if ARMED in rank.samples]
    known = [(on, off) for on, off in both if on is not None and off is not None]
    if not known:
        return None
    on, off = max(known, key=lambda pair: float(np.median(pair[1])))
    return np.log(on / off) if len(on) == len(off) and min(on.min(), off.min()) > 0 else None


def _whole(samples: dict[str, Array], which: str) -> Array | None:
    """Of each step the total as _rank_time() has it; `which`: before the quantities' names."""
    mine = {name.removeprefix(which): values for name, values in samples.items() if name.startswith(which)}
    if "total_s" not in mine:
        return None
    latency = float(np.median(mine["ack_s"])) if len(mine.get("ack_s", ())) else 0.0
    own = _own_part(mine) if latency else None
    whole = mine["total_s"] - latency
    return whole if own is None else np.maximum(whole, own)


# What a rank does in a step before it waits for the acknowledgement alone.
OWN_PARTS = ("post_s", "comp_in_s", "wait_s")


def _own_part(samples: dict[str, Array]) -> Array | None:
    """Of each step what the rank does before it waits for the acknowledgement; None where that was not recorded."""
    if "wait_s" not in samples:
        return None
    parts = [samples[name] for name in OWN_PARTS if len(samples.get(name, ())) == len(samples["wait_s"])]
    return np.asarray(np.sum(parts, axis=0))


def _rank_time(
    samples: dict[str, Array], quantity: str, subtract: str | None, rng: np.random.Generator
) -> tuple[float, Array]:
    median = float(np.median(samples[quantity]))
    pool = resampled_medians(samples[quantity], POOL, rng)
    if subtract and len(samples.get(subtract, ())):
        median -= float(np.median(samples[subtract]))
        pool = pool - resampled_medians(samples[subtract], POOL, rng)
        own = _own_part(samples) if quantity == "total_s" else None
        if own is not None:
            median = max(median, float(np.median(own)))
            pool = np.maximum(pool, resampled_medians(own, POOL, rng.spawn(1)[0]))
    return median, pool


@dataclass(frozen=True)
class VariantTimes:
    """The launches of one variant at one point: draws of each time, and the launches themselves."""

    draws: dict[str, Draws]
    launches: int
    samples: int
    rounds: dict[int, dict[str, float]] = field(default_factory=dict)  # round -> its launch's medians
    pairs: list[Array] = field(default_factory=list)  # of launches that paused their engine by turns
    tail: dict[str, Any] = field(default_factory=dict)  # columns of evaluate()'s frame, see tail_columns

    @classmethod
    def of(cls, launches: Sequence[LaunchTimes], rng: np.random.Generator, rounds: Sequence[int] = ()) -> VariantTimes:
        """`rounds`: of each launch the round of the schedule in which it ran."""
        group = Group(len(launches), rng)
        draws = {
            name: (copy.deepcopy(group) if name in BESIDE else group).draws(
                [x.medians[name] for x in launches], np.stack([x.pools[name] for x in launches])
            )
            for name in SOURCES
        }
        medians = dict(zip(rounds, (x.medians for x in launches), strict=False))
        pairs = [x.pairs for x in launches if x.pairs is not None]
        return cls(draws, len(launches), sum(x.samples for x in launches), medians, pairs)

    def in_round(self, turn: int, reference: VariantTimes) -> Times:
        """The times of one launch, with comm and comp of the reference's launch of the same round."""
        there = reference.rounds[turn]
        return Times(comm=there["own_comm"], comp=there["own_comp"], **self.rounds[turn])


def combine(
    variant: VariantTimes, reference: VariantTimes | None, own: str = "value", of_reference: str = "value"
) -> Times:
    """The times of a variant with the reference's comm and comp: of each side the medians (`value`, scalars) or their
    bootstrap draws (`resampled`, arrays)."""
    mine = {name: getattr(draws, own) for name, draws in variant.draws.items()}
    nan = np.nan * mine["total"]
    comm = getattr(reference.draws["own_comm"], of_reference) if reference else nan
    comp = getattr(reference.draws["own_comp"], of_reference) if reference else nan
    return Times(comm=comm, comp=comp, **mine)


def rank_samples(records: Records, rows: pd.DataFrame) -> dict[int, RankSamples]:
    """Row of `records.points` -> its samples, for the rows given; rows without samples are absent."""
    series = records.series[records.series["row"].isin(rows.index) & (records.series["count"] > 0)]
    found: dict[int, RankSamples] = {}
    roles: dict[Any, Any] = rows["role"].to_dict()
    for row, quantity, first, count in zip(
        *(series[name] for name in ("row", "quantity", "first", "count")), strict=True
    ):
        rank = found.setdefault(row, RankSamples(roles[row], {}))
        rank.samples[quantity] = records.series_values(first, count)
    return found


PARTS = ("post", "computation", "slowdown", "wait", "tail")


def part_columns(found: Times) -> dict[str, float]:
    """Where the time of a step goes, seconds: posting, the computation as it is alone, what that takes longer beside
    the messages, the wait, and what still moves behind it. Medians, so that they add up to the whole about."""
    alone = np.fmin(found.comp_in, found.comp)
    tail = found.total - found.post - found.comp_in - found.wait
    parts = (found.post, alone, found.comp_in - alone, found.wait, tail)
    return {f"part_{name}_s": as_float(np.maximum(0.0, value)) for name, value in zip(PARTS, parts, strict=True)}


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
        for which, wake_us in enumerate(best):
            mine = rows[half[rows.index] == which]
            if wake_us is not None:
                kept.append(mine[mine[SWEPT] == wake_us])
            elif (mine["status"] == "ok").any():
                kept.append(mine.assign(status="skipped", reason=ONE_LAUNCH))
            else:
                kept.append(mine)
        chosen[point] = sorted({int(wake_us) for wake_us in best if wake_us is not None})
    return pd.concat(kept), chosen


def _without_interval(point: str) -> str:
    return identity({name: value for name, value in json.loads(point).items() if name != SWEPT})


def _best(rows: pd.DataFrame, samples: Mapping[int, RankSamples]) -> float | None:
    """The interval with the least median total over these launches; None where none has a total."""
    totals: dict[float, list[float]] = {}
    rng = np.random.default_rng(0)
    for (wake_us, _), ranks in frames.groups(rows[rows["status"] == "ok"], [SWEPT, "launch"]):
        usable = [samples[row] for row in ranks.index if row in samples]
        total = launch_times(usable, json.loads(ranks["point"].iloc[0]).get("pattern"), rng).medians["total"]
        if np.isfinite(total):
            totals.setdefault(wake_us, []).append(total)
    return min(totals, key=lambda wake_us: float(np.median(totals[wake_us])), default=None)


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


def change(mine: VariantTimes, bare: VariantTimes) -> Interval:
    """The whole time over bare's, 0.6 where 40 % shorter: within launches where those paused their engine by turns,
    else over two groups of launches."""
    if math.isfinite((within := ratio_of_pairs(mine.pairs)).value):
        return within
    total, there = mine.draws["total"], bare.draws["total"]
    return interval(
        as_float(divide(total.value, there.value)),
        np.asarray(divide(total.resampled, there.resampled)),
        min(mine.launches, bare.launches),
        groups=effective_groups([divide(total.resampled, there.value), divide(total.value, there.resampled)]),
        two_kinds=total.two_kinds or there.two_kinds,
    )


def change_columns(found: Interval) -> dict[str, Any]:
    """The columns of evaluate()'s frame that say it."""
    return {f"change_{name}": getattr(found, name) for name in ("value", "low", "high", "defensible", "freedom")}


def tail_columns(launches: Sequence[Mapping[int, Array]]) -> dict[str, Any]:
    """Of launches, each rank -> its samples of the whole step (seconds): the 95th and 99th percentile and the largest
    over all steps of all launches, of a step the rank that takes longest; and which rank mostly does."""
    steps, slowest = [], Counter[int]()
    for ranks in launches:
        alike = len({len(samples) for samples in ranks.values()}) == 1
        rank = max(ranks, key=lambda one: float(np.median(ranks[one])))
        steps.append(np.max(list(ranks.values()), axis=0) if alike else ranks[rank])
        slowest[rank] += 1
    every = np.concatenate(steps)
    rank, often = slowest.most_common(1)[0]
    return {
        **{f"tail_p{percent}_s": float(np.percentile(every, percent)) for percent in (95, 99)},
        "tail_max_s": float(every.max()),
        "slowest_rank": f"{rank} in {often} of {len(launches)} launches",
    }


def limit_columns(found: Against) -> dict[str, Any]:
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
    return [*said, *filter(None, [took(max(float(one.get("disturbance") or 0) for one in compared))])]
