# SPDX-License-Identifier: BSD-3-Clause
"""Ways to read one number off the evidence, with its interval: what a claim is held against, and some figures draw."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from analysis.evidence import SETTING, STATISTICS, Array, Evidence, Value, Where, matching, remark, same_work
from analysis.metrics.evaluate import REFERENCE
from analysis.metrics.formulas import COMP_EQUALS_COMM, NO_COMPUTATION
from analysis.records import frames
from analysis.records.frames import disturbed, partly, unmeasured
from analysis.records.load import parameter_columns
from analysis.statistics.interval import (
    ENOUGH_LAUNCHES,
    NO_VALUE,
    Interval,
    difference_of_medians,
    of_medians,
    ratio_of_medians,
    simultaneous,
)
from analysis.statistics.pairs import ratio_of_pairs
from analysis.words import point_words

# An efficiency is of the shorter of computation and communication. So it is told where the work, which is that of the
# MPI that was calibrated, is so far from comp = comm on another one, and the claim says how far.
EFFICIENCY, MOST_APART = "overlap_efficiency", 2.0
OTHERS = ("bare", "mpi-async")  # "best other MPI": over all MPIs and their own asynchronous modes


@dataclass(frozen=True)
class MetricAt:
    """A metric of metrics.formulas, of one variant, at the points that `where` describes."""

    metric: str
    variant: str
    where: Where = field(default_factory=dict)

    def __call__(self, evidence: Evidence, study: str) -> Sequence[Value]:
        frame = evidence.metrics
        if not len(frame):
            return []
        wanted = (frame["study"] == study) & (frame["metric"] == self.metric) & (frame["variant"] == self.variant)
        wanted &= frame["status"] != "missing"  # it was not to be measured there
        rows = frames.rows(matching(frame[wanted], self.where))
        return [self._value(evidence, row) for row in rows if row.get("note") != NO_COMPUTATION]

    def _value(self, evidence: Evidence, row: Mapping[str, Any]) -> Value:
        place = (row["system"], row["mpi"], row["session"], point_words(row["point"]))
        if not math.isfinite(row["value"]):
            bad = row["status"] not in ("ok", "partial")
            why = f"{row['status']}: {row['reason']}" if bad else str(row["note"] or "no value")
            return Value(*place, NO_VALUE, self.variant, why)
        interval = Interval(row["value"], row["low"], row["high"], row["interval"], row["defensible"], row["freedom"])
        ratio, elsewhere = row["comp_over_comm_measured"], self._elsewhere(row["comp_over_comm_measured"])
        told = self.metric == EFFICIENCY and 1 / MOST_APART <= ratio <= MOST_APART
        caveat = ("" if told else elsewhere) or disturbed(row["disturbance"])
        some = ""
        if row["status"] == "partial":
            names = [*SETTING, "variant", "point"]
            some = partly(matching(evidence.planned(row["study"]), {name: row[name] for name in names}))
        return Value(
            *place,
            interval,
            self.variant,
            caveat,
            _both(some, elsewhere if told else "", remark(row["converged"], row["noisy"], self.variant)),
        )

    def _elsewhere(self, measured: float) -> str:
        """Where the claim is about comp = comm and the point was not there when it was measured."""
        if self.where.get("comp_over_comm") != 1.0 or abs(measured - 1) <= COMP_EQUALS_COMM:
            return ""
        return f"comp was {measured:.2f} times comm, not within {100 * COMP_EQUALS_COMM:g} % of it"


@dataclass(frozen=True)
class Ratio:
    """median(quantity of `variant` at `where`) / median(quantity of `below` at `below_where`), point by point.

    The points agree in all parameters but those named in `below_where`, if it is given. `below` = "best other" is the
    fastest of all MPIs and of their own asynchronous modes at that point (chosen by its median); "best own" that of the
    same MPI's. The fastest of several is fast by luck, too: the interval holds against all of them at the same time.
    Only what did the same work is compared: where one of them did different work, nobody knows which is the
    fastest, and the value is NaN with a caveat. Nor does anybody where one of them failed; what cannot be measured here
    at all is none of them.
    """

    quantity: str
    variant: str
    below: str
    where: Where = field(default_factory=dict)
    below_where: Where | None = None
    statistic: str = "median"
    below_statistic: str = ""  # else the same

    def __call__(self, evidence: Evidence, study: str) -> Sequence[Value]:
        points = evidence.planned(study)
        above = matching(points[points["variant"] == self.variant], self.where)
        found = (
            self._value(evidence, points[(points["session"] == keys[0]) & (points["system"] == keys[1])], keys, part)
            for keys, part in frames.groups(above, [*SETTING, "point"])
        )
        return [value for value in found if value]

    def _value(self, evidence: Evidence, here: pd.DataFrame, keys: Sequence[str], part: pd.DataFrame) -> Value | None:
        session, system, mpi, point = keys
        groups = self._below(here, mpi, point)
        mine = evidence.launches(part, self.quantity, self.statistic)
        every = [evidence.launches(rows, self.quantity, self.below_statistic or self.statistic) for rows in groups]
        absent = [] if mine else [unmeasured(part)]
        absent += [_named(rows) for rows, found in zip(groups, every, strict=True) if not found]
        caveat = "; ".join(filter(None, absent))
        other = _fastest(every)
        place = (system, mpi, session, point_words(point))
        if not groups or not (caveat or (mine and other)):
            return None
        if not mine or not other:
            return Value(*place, NO_VALUE, self.variant, caveat)
        good = [rows[rows["status"] == "ok"] for rows in (part, *groups)]
        unlike = _different_work([rows for rows in good[1:] if len(rows) and not same_work(good[0], rows)], mpi)
        interval = NO_VALUE if unlike else self._within(evidence, part) or self._compared(mine, other)
        interval = replace(simultaneous(interval, sum(map(bool, every))), points=1)
        nothing = "" if math.isfinite(interval.value) else "what it is divided by took no time"
        disturbance, said = evidence.state(pd.concat(good))
        some = [partly(part), *(partly(rows, _who(rows)) for rows, found in zip(groups, every, strict=True) if found)]
        caveat = unlike or caveat or nothing or self._alone(groups, mpi) or disturbance
        return Value(*place, interval, self.variant, caveat, _both(*some, said))

    def _within(self, evidence: Evidence, part: pd.DataFrame) -> Interval | None:
        """Against bare, where launches paused their engine by turns: of the pairs within them."""
        if self.below != REFERENCE or self.below_where or self.statistic != "median":
            return None
        found = ratio_of_pairs([np.log(on / off) for on, off in evidence.pairs(part, self.quantity)])
        return found if math.isfinite(found.value) else None

    def _compared(self, mine: list[Array], other: list[Array]) -> Interval:
        return ratio_of_medians(mine, other)

    def _below(self, points: pd.DataFrame, mpi: str, point: str) -> list[pd.DataFrame]:
        """What the variant is compared with: the rows of each MPI and variant."""
        where = self.below_where or {}
        parameters = {name: value for name, value in parameter_columns(json.loads(point)).items() if name not in where}
        candidates = matching(points, {**parameters, **where})
        if self.below in ("best other", "best own"):
            others = candidates[candidates["variant"].isin(OTHERS)]
            others = others[others["mpi"] == mpi] if self.below == "best own" else others
        else:
            others = candidates[(candidates["variant"] == self.below) & (candidates["mpi"] == mpi)]
        return [part for _, part in frames.groups(others, ["mpi", "variant"])]

    def _alone(self, groups: Sequence[pd.DataFrame], mpi: str) -> str:
        """Why the best of all MPIs is not known, where this one alone was measured."""
        if self.below != "best other" or any((part["mpi"] != mpi).any() for part in groups):
            return ""
        return f"no MPI but {mpi} was measured: compared with its own modes alone"


@dataclass(frozen=True)
class Difference(Ratio):
    """By how much the one median is above the other, in units of which `A_UNIT` make one."""

    A_UNIT: ClassVar = 1.0

    def _compared(self, mine: list[Array], other: list[Array]) -> Interval:
        left, right = ([self.A_UNIT * launch for launch in found] for found in (mine, other))
        return difference_of_medians(left, right)


@dataclass(frozen=True)
class Nanoseconds(Difference):
    """Of times."""

    A_UNIT: ClassVar = 1e9


def _fastest(found: Sequence[list[Array]]) -> list[Array]:
    usable = [launches for launches in found if launches]
    return min(usable, key=lambda launches: float(np.median([np.median(x) for x in launches])), default=[])


def _who(rows: pd.DataFrame) -> str:
    return f"{rows['mpi'].iloc[0]} {rows['variant'].iloc[0]}"


def _named(rows: pd.DataFrame) -> str:
    """Why one of those compared with has no value; empty where it cannot be measured here at all."""
    why = unmeasured(rows[rows["status"] != "skipped"])
    return f"{_who(rows)} has no value ({why})" if why else ""


def _both(*said: str) -> str:
    return "; ".join(filter(None, said))


def _different_work(groups: Sequence[pd.DataFrame], mpi: str) -> str:
    """Why a comparison is none, where some of those compared with did different work."""
    if not groups:
        return ""
    others = list(dict.fromkeys(name for part in groups for name in part["mpi"] if name != mpi))
    if not others:
        return "its launches did different amounts of work: their times cannot be compared"
    return f"the MPIs did different work ({', '.join(others)} not as much as {mpi}): their times cannot be compared"


@dataclass(frozen=True)
class Median:
    """The median of a quantity of one variant at the points of `where`."""

    quantity: str
    variant: str
    where: Where = field(default_factory=dict)
    statistic: str = "median"

    def __call__(self, evidence: Evidence, study: str) -> Sequence[Value]:
        points = evidence.planned(study)
        values = []
        for keys, part in frames.groups(
            matching(points[points["variant"] == self.variant], self.where), [*SETTING, "point"]
        ):
            session, system, mpi, point = keys
            launches = evidence.launches(part, self.quantity, self.statistic)
            place = (system, mpi, session, point_words(point))
            if launches:
                interval = of_medians(lambda x: x, {"x": launches})
                caveat, said = evidence.state(part)
                values.append(Value(*place, interval, self.variant, caveat, _both(partly(part), said)))
            elif why := unmeasured(part):
                values.append(Value(*place, NO_VALUE, self.variant, why))
        return values


@dataclass(frozen=True)
class OfAll:
    """The largest ("max") or the mean of all samples of all launches together, on the rank where that is largest: for
    what must be so each time, which a median of medians does not tell. It is what was seen, and has no interval."""

    quantity: str
    variant: str
    statistic: str
    where: Where = field(default_factory=dict)

    def __call__(self, evidence: Evidence, study: str) -> Sequence[Value]:
        points = evidence.planned(study)
        chosen = matching(points[points["variant"] == self.variant], self.where)
        found = []
        for (session, system, mpi, point), part in frames.groups(chosen, [*SETTING, "point"]):
            launches = evidence.launches(part, self.quantity, self.statistic)
            place = (system, mpi, session, point_words(point))
            if launches:
                value = STATISTICS[self.statistic](np.concatenate(launches))
                kind = f"{self.statistic} of all samples of {len(launches)} launches, no interval"
                seen = Interval(value, value, value, kind, len(launches) >= ENOUGH_LAUNCHES)
                caveat, said = evidence.state(part)
                found.append(Value(*place, seen, self.variant, caveat, _both(partly(part), said)))
            elif why := unmeasured(part):
                found.append(Value(*place, NO_VALUE, self.variant, why))
        return found


def _ends(x: Array) -> list[float]:
    return [x[0], x[-1]]


def _ends_and_middle(x: Array) -> list[float]:
    return [x[0], *sorted(x[1:-1], key=lambda place: abs(2 * place - x[0] - x[-1]))[:1], x[-1]]


def _straightness(x: Array, y: Sequence[Any]) -> Any:
    """The share of the growth that lies beyond the middle, over the share of the way that does."""
    return (y[2] - y[1]) / (y[2] - y[0]) * (x[2] - x[0]) / (x[2] - x[1])


def _slope(x: Array, y: Sequence[Any]) -> Any:
    weights = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    return sum(weight * median for weight, median in zip(weights, y, strict=True))


# How a quantity grows: at which values of the parameter it is looked at (how many there must be), and the number.
SHAPES: dict[str, tuple[int, Callable[[Array], Sequence[float]], Callable[[Array, Sequence[Any]], Any]]] = {
    "ratio": (2, _ends, lambda _, y: y[1] / y[0]),
    "in proportion": (2, _ends, lambda x, y: y[1] / y[0] * x[0] / x[1]),
    "straightness": (3, _ends_and_middle, _straightness),
    "slope": (2, list, _slope),
}


@dataclass(frozen=True)
class Growth:
    """How the median grows with the parameter `over`, of points that agree in all other parameters, by `shape`: at its
    highest value over that at its lowest ("ratio"); the same over the ratio of the values ("in proportion"), so that 1
    is growth in proportion; whether it grows beyond the middle as before it ("straightness", 1 on a straight line); or
    how much it grows a unit ("slope", by least squares), less that of the variant `below` if one is named."""

    quantity: str
    variant: str
    over: str
    where: Where = field(default_factory=dict)
    shape: str = "ratio"
    below: str = ""

    def __call__(self, evidence: Evidence, study: str) -> Sequence[Value]:
        points = evidence.planned(study)
        if self.over not in points:
            return []
        chosen = matching(points[points["variant"].isin([self.variant, self.below])], self.where)
        chosen = chosen[pd.to_numeric(chosen[self.over], errors="coerce").notna()]
        chosen = chosen.assign(others=[self._others(point) for point in chosen["point"]])
        found = (
            self._value(evidence, dict(zip([*SETTING, "others"], keys, strict=True)), part)
            for keys, part in frames.groups(chosen, [*SETTING, "others"])
        )
        return [value for value in found if value]

    def _others(self, point: str) -> str:
        """The point without the parameter that grows."""
        return json.dumps({name: value for name, value in json.loads(point).items() if name != self.over})

    def _value(self, evidence: Evidence, keys: Mapping[str, str], part: pd.DataFrame) -> Value | None:
        fewest, looked_at, number = SHAPES[self.shape]
        every = np.array(sorted(pd.to_numeric(part[self.over]).unique()), dtype=float)
        if len(every) < fewest or (self.shape == "in proportion" and every[0] <= 0):
            return None
        places = np.array(looked_at(every))
        names = list(filter(None, (self.variant, self.below)))
        ends = {
            f"{name}{at:g}": part[(part["variant"] == name) & (part[self.over] == at)]
            for name, at in itertools.product(names, places)
        }
        words = [f"{self.over} {every[0]:g} to {every[-1]:g}", point_words(keys["others"])]
        place = (keys["system"], keys["mpi"], keys["session"], ", ".join(filter(None, words)))
        said = dict(zip(ends, [f"{self.over} {at:g}" for _, at in itertools.product(names, places)], strict=True))
        launches = {name: evidence.launches(end, self.quantity, "median") for name, end in ends.items()}
        if not all(launches.values()):
            absent = [f"{said[name]}: {why}" for name, end in ends.items() if (why := unmeasured(end))]
            return Value(*place, NO_VALUE, self.variant, "; ".join(absent)) if absent else None

        def shape(**medians: Any) -> Any:
            ordered = [np.asarray(median) for median in medians.values()]
            curves = [ordered[start : start + len(places)] for start in range(0, len(ordered), len(places))]
            with np.errstate(divide="ignore", invalid="ignore"):
                found, *less = [number(places, curve) for curve in curves]
                return found - sum(less)

        caveat, remarks = evidence.state(pd.concat(list(ends.values())))
        some = [partly(end, f"those with {said[name]}") for name, end in ends.items()]
        return Value(*place, of_medians(shape, launches), self.variant, caveat, _both(*some, remarks))
