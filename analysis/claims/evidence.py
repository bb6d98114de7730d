# SPDX-License-Identifier: BSD-3-Clause
"""What claims are decided on: the records, the metric frame, and ways to read one number off them with its interval."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis import frames
from analysis.claims.model import Value
from analysis.evaluate import REFERENCE, evaluate
from analysis.load import Records, parameter_columns
from analysis.metrics import COMP_EQUALS_COMM
from analysis.statistics.bootstrap import of_medians, ratio_of_medians
from analysis.statistics.interval import Interval
from analysis.statistics.noise import DISTURBED, disturbance, measured_s
from analysis.tables import point_words

Array = npt.NDArray[np.float64]
Where = Mapping[str, Any]  # parameter -> value, or (operator, value) with an operator of COMPARE
SETTING = ["session", "system", "mpi"]
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "<": operator.lt,
    ">": operator.gt,
}
OTHERS = ("bare", "mpi-async")  # "best other MPI": over all MPIs and their own asynchronous modes
NO_VALUE = Interval(float("nan"), float("nan"), float("nan"), "no value", False)
STATISTICS: dict[str, Callable[[Array], float]] = {
    "min": lambda x: float(x.min()),
    "mean": lambda x: float(x.mean()),
    "max": lambda x: float(x.max()),
}


@dataclass
class Evidence:
    """Loaded records and the metric frame of evaluate(), which is made when first asked for unless given."""

    records: Records
    evaluated: pd.DataFrame | None = None

    @cached_property
    def metrics(self) -> pd.DataFrame:
        return evaluate(self.records) if self.evaluated is None else self.evaluated

    def points(self, study: str) -> pd.DataFrame:
        """The points of a study that were measured well."""
        points = self.records.points
        return points[(points["study"] == study) & (points["status"] == "ok")]

    def launches(self, points: pd.DataFrame, quantity: str, statistic: str) -> list[Array]:
        """Per launch the samples of `quantity` on the rank where they are largest; or their min, mean or max alone.

        Distributions too long to keep are read off their histograms, whose extremes and quantiles are exact.
        """
        found = []
        for _, ranks in frames.groups(points, ["launch"]):
            per_rank = [values for row in ranks.index for values in self._of_rank(row, quantity, statistic)]
            if per_rank:
                found.append(max(per_rank, key=lambda values: float(np.median(values))))
        return found

    def _of_rank(self, row: int, quantity: str, statistic: str) -> list[Array]:
        first, count = self._places.get((row, quantity), (0, 0))
        if count:
            values = self.records.series_values(first, count)
            return [values if statistic == "median" else np.array([STATISTICS[statistic](values)])]
        histogram = self.records.histograms.get((row, quantity))
        if histogram is None:
            return []
        value = histogram["quantiles"].get("0.5") if statistic == "median" else histogram[statistic]
        return [] if value is None else [np.array([float(value)])]

    def state(self, points: pd.DataFrame) -> tuple[str, str]:
        """Why these rows cannot decide, and what must be said beside what they do decide; each may be empty."""
        loose = (points["converged"] == False).any()  # noqa: E712 - None where not recorded
        share = disturbance(points, sum(map(self._measured_s, points.index))) if points["steal_s"].any() else None
        return disturbed(share), remark(not loose)

    def _measured_s(self, row: int) -> float:
        """How long the samples of a row took; of a study without phases its longest quantity that is a time."""
        samples = {}
        for name in self._quantities.get(row, []):
            if name.endswith("_s") and not name.endswith("_per_s"):
                histogram = self.records.histograms.get((row, name))
                samples[name] = self.records.series_values(*self._places.get((row, name), (0, 0)))
                if histogram and not len(samples[name]):
                    samples[name] = np.array([histogram["count"] * histogram["mean"]])
        return measured_s(samples) or max((float(values.sum()) for values in samples.values()), default=0.0)

    @cached_property
    def _quantities(self) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for row, name in (*self._places, *self.records.histograms):
            found.setdefault(row, []).append(name)
        return found

    @cached_property
    def _places(self) -> dict[tuple[int, str], tuple[int, int]]:
        series = self.records.series
        columns = (series[name].tolist() for name in ("row", "quantity", "first", "count"))
        return {(row, quantity): (first, count) for row, quantity, first, count in zip(*columns, strict=True)}


def disturbed(share: float | None) -> str:
    """Why a point cannot decide of which others took that share of the measured time; no interval holds that."""
    if share is None or not share > DISTURBED:
        return ""
    return f"the machine was disturbed: others took {100 * share:.0f} % of the measured time"


def remark(converged: Any, noisy: Any = False, variant: str = "") -> str:
    """What a reader must know, though the interval over launches holds it and decides."""
    said = []
    if converged is False:
        said.append("its samples did not converge")
    if noisy is True:
        bare = variant == REFERENCE
        said.append("its noise is larger than " + ("5 % of its total" if bare else "its difference to bare"))
    return f"{' and '.join(said)}: the interval over launches holds that" if said else ""


def matching(frame: pd.DataFrame, where: Where) -> pd.DataFrame:
    """The rows whose parameters are as asked; a parameter that no point has matches nothing."""
    for name, wanted in where.items():
        if name not in frame:
            return frame.iloc[:0]
        column = frame[name]
        if isinstance(wanted, tuple):
            symbol, bound = wanted
            frame = frame[COMPARE[symbol](pd.to_numeric(column, errors="coerce"), bound)]
        elif isinstance(wanted, float):
            frame = frame[np.isclose(pd.to_numeric(column, errors="coerce"), wanted)]
        else:
            frame = frame[column == wanted]
    return frame


@dataclass(frozen=True)
class MetricAt:
    """A metric of metrics.py, of one variant, at the points that `where` describes."""

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
                caveat = unlike or self._alone(groups, mpi) or caveat
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


def same_work(left: pd.DataFrame, right: pd.DataFrame) -> bool:
    """Whether all launches of both did the same calibrated work, or none at all: only then can times be compared."""
    if "work_units" not in left:
        return True
    done = set(left["work_units"].dropna()), set(right["work_units"].dropna())
    return done[0] == done[1] and len(done[0]) <= 1


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
