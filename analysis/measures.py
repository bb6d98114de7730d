# SPDX-License-Identifier: BSD-3-Clause
"""Ways to read one number off the evidence, with its interval: what a claim is held against, and some figures draw."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from analysis.evidence import SETTING, Array, Evidence, Value, Where, disturbed, matching, remark, same_work
from analysis.metrics.formulas import COMP_EQUALS_COMM
from analysis.records import frames
from analysis.records.load import parameter_columns
from analysis.statistics.bootstrap import of_medians, ratio_of_medians
from analysis.statistics.interval import Interval
from analysis.words import point_words

OTHERS = ("bare", "mpi-async")  # "best other MPI": over all MPIs and their own asynchronous modes
NO_VALUE = Interval(float("nan"), float("nan"), float("nan"), "no value", False)


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
        return [
            Value(
                row["system"],
                row["mpi"],
                row["session"],
                point_words(row["point"]),
                Interval(
                    row["value"],
                    row["low"],
                    row["high"],
                    row["interval"],
                    row["defensible"],
                    row["freedom"],
                ),
                self.variant,
                self._caveat(row["comp_over_comm_measured"]) or disturbed(row["disturbance"]),
                remark(row["converged"], row["noisy"], self.variant),
            )
            for row in frames.rows(matching(frame[wanted & frame["value"].notna()], self.where))
        ]

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
    fastest, and the value is NaN with a caveat.
    """

    quantity: str
    variant: str
    below: str
    where: Where = field(default_factory=dict)
    below_where: Where | None = None
    statistic: str = "median"

    def __call__(self, evidence: Evidence, study: str) -> Sequence[Value]:
        points = evidence.points(study)
        above = matching(points[points["variant"] == self.variant], self.where)
        values = []
        for keys, part in frames.groups(above, [*SETTING, "point"]):
            session, system, mpi, point = keys
            mine = evidence.launches(part, self.quantity, self.statistic)
            here = points[(points["session"] == session) & (points["system"] == system)]
            groups = self._below(here, mpi, point)
            other = self._fastest(evidence, groups)
            if mine and other:
                unlike = _different_work([rows for rows in groups if not same_work(part, rows)], mpi)
                interval = NO_VALUE if unlike else ratio_of_medians(mine, other)
                caveat, said = evidence.state(pd.concat([part, *groups]))
                nothing = "" if math.isfinite(interval.value) else "what it is divided by took no time"
                caveat = unlike or nothing or self._alone(groups, mpi) or caveat
                values.append(Value(system, mpi, session, point_words(point), interval, self.variant, caveat, said))
        return values

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

    def _fastest(self, evidence: Evidence, groups: Sequence[pd.DataFrame]) -> list[Array]:
        found = [evidence.launches(part, self.quantity, self.statistic) for part in groups]
        usable = [launches for launches in found if launches]
        return min(usable, key=lambda launches: float(np.median([np.median(x) for x in launches])), default=[])


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
        points = evidence.points(study)
        values = []
        for keys, part in frames.groups(
            matching(points[points["variant"] == self.variant], self.where), [*SETTING, "point"]
        ):
            session, system, mpi, point = keys
            launches = evidence.launches(part, self.quantity, self.statistic)
            if launches:
                interval = of_medians(lambda x: x, {"x": launches})
                words = point_words(point)
                values.append(Value(system, mpi, session, words, interval, self.variant, *evidence.state(part)))
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
        points = evidence.points(study)
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
        if not first or not last:
            return None
        step = places[-1] / places[0] if self.per_step else 1.0
        interval = of_medians(lambda last, first: last / first / step, {"last": last, "first": first})
        words = [f"{self.over} {places[0]:g} to {places[-1]:g}", point_words(keys["others"])]
        point = ", ".join(filter(None, words))
        state = evidence.state(pd.concat(ends))
        return Value(keys["system"], keys["mpi"], keys["session"], point, interval, self.variant, *state)
