# SPDX-License-Identifier: BSD-3-Clause
"""Ways to read one number off the evidence, with its interval: what a claim is held against, and some figures draw."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from analysis.evidence import SETTING, Array, Evidence, Value, Where, disturbed, matching, remark, same_work
from analysis.metrics.formulas import COMP_EQUALS_COMM, NO_COMPUTATION
from analysis.records import frames
from analysis.records.frames import partly, unmeasured
from analysis.records.load import parameter_columns
from analysis.statistics.bootstrap import of_medians, ratio_of_medians
from analysis.statistics.interval import NO_VALUE, Interval
from analysis.words import point_words

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
        caveat = self._caveat(row["comp_over_comm_measured"]) or disturbed(row["disturbance"])
        some = ""
        if row["status"] == "partial":
            names = [*SETTING, "variant", "point"]
            some = partly(matching(evidence.planned(row["study"]), {name: row[name] for name in names}))
        return Value(
            *place, interval, self.variant, caveat, _both(some, remark(row["converged"], row["noisy"], self.variant))
        )

    def _caveat(self, measured: float) -> str:
        """Where the claim is about comp = comm and the point was not there when it was measured."""
        if self.where.get("comp_over_comm") != 1.0 or abs(measured - 1) <= COMP_EQUALS_COMM:
            return ""
        return f"comp was {measured:.2f} times comm, not within {100 * COMP_EQUALS_COMM:g} % of it"


@dataclass(frozen=True)
class Ratio:
    """median(quantity of `variant` at `where`) / median(quantity of `below` at `below_where`), point by point.

    The points agree in all parameters but those named in `below_where`, if it is given. `below` = "best other" is the
    fastest of all MPIs and of their own asynchronous modes at that point (chosen by its median); "best own" that of the
    same MPI's. Only what did the same work is compared: where one of them did different work, nobody knows which is the
    fastest, and the value is NaN with a caveat. Nor does anybody where one of them failed; what cannot be measured here
    at all is none of them.
    """

    quantity: str
    variant: str
    below: str
    where: Where = field(default_factory=dict)
    below_where: Where | None = None
    statistic: str = "median"

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
        every = [evidence.launches(rows, self.quantity, self.statistic) for rows in groups]
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
        interval = NO_VALUE if unlike else ratio_of_medians(mine, other)
        nothing = "" if math.isfinite(interval.value) else "what it is divided by took no time"
        disturbance, said = evidence.state(pd.concat(good))
        some = [partly(part), *(partly(rows, _who(rows)) for rows, found in zip(groups, every, strict=True) if found)]
        caveat = unlike or caveat or nothing or self._alone(groups, mpi) or disturbance
        return Value(*place, interval, self.variant, caveat, _both(*some, said))

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
class Growth:
    """Median at the highest value of the parameter `over` / median at its lowest, of points that agree in all other
    parameters; `per_step` divides by the ratio of the parameter's values, so that 1 is growth in proportion."""

    quantity: str
    variant: str
    over: str
    where: Where = field(default_factory=dict)
    statistic: str = "median"
    per_step: bool = False

    def __call__(self, evidence: Evidence, study: str) -> Sequence[Value]:
        points = evidence.planned(study)
        if self.over not in points:
            return []
        chosen = matching(points[points["variant"] == self.variant], self.where)
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
        places = sorted(pd.to_numeric(part[self.over]).unique())
        if len(places) < 2 or (self.per_step and places[0] <= 0):
            return None
        ends = [part[part[self.over] == place] for place in (places[0], places[-1])]
        first, last = (evidence.launches(end, self.quantity, self.statistic) for end in ends)
        words = [f"{self.over} {places[0]:g} to {places[-1]:g}", point_words(keys["others"])]
        place = (keys["system"], keys["mpi"], keys["session"], ", ".join(filter(None, words)))
        at = [f"{self.over} {number:g}" for number in (places[0], places[-1])]
        if not first or not last:
            absent = [f"{where}: {why}" for where, end in zip(at, ends, strict=True) if (why := unmeasured(end))]
            return Value(*place, NO_VALUE, self.variant, "; ".join(absent)) if absent else None
        step = places[-1] / places[0] if self.per_step else 1.0
        interval = of_medians(lambda last, first: last / first / step, {"last": last, "first": first})
        caveat, said = evidence.state(pd.concat(ends))
        some = [partly(end, f"those with {where}") for where, end in zip(at, ends, strict=True)]
        return Value(*place, interval, self.variant, caveat, _both(*some, said))
