# SPDX-License-Identifier: BSD-3-Clause
"""What is said of studies is read off this: the records, the metric frame, and which of their rows are meant.

`Choice`: which points are drawn, those of some studies, systems, MPIs, variants, message sizes. What is not named is
all.

What a point's value is does not depend on it: it is computed from all that was recorded.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.errors import UsageError, there_are
from analysis.metrics.evaluate import REFERENCE, evaluate
from analysis.records import frames
from analysis.records.frames import disturbance, disturbed, measured_s
from analysis.records.load import Records
from analysis.records.read import ARMED, PAUSED
from analysis.statistics.interval import Interval
from harness.base.validate import size_of

COLUMN = {"study": "study", "system": "system", "mpi": "mpi", "variant": "variant", "size": "size_bytes"}


@dataclass(frozen=True)
class Choice:
    """The names that are wanted, by the names of the options; a point without a message size is of no size."""

    study: tuple[str, ...] = ()
    system: tuple[str, ...] = ()
    mpi: tuple[str, ...] = ()
    variant: tuple[str, ...] = ()
    size: tuple[int, ...] = ()

    @classmethod
    def of_words(cls, study: str = "", system: str = "", mpi: str = "", variant: str = "", size: str = "") -> Choice:
        """As the command line has them: names with commas between, sizes as 4194304 or 4MB."""

        def names(words: str) -> tuple[str, ...]:
            return tuple(filter(None, words.split(",")))

        return cls(names(study), names(system), names(mpi), names(variant), tuple(map(bytes_of, names(size))))

    def named(self) -> dict[str, tuple[str | int, ...]]:
        """What is asked for, by option; nothing where everything is."""
        return {field.name: getattr(self, field.name) for field in fields(self) if getattr(self, field.name)}

    def of(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows that are wanted. A frame that does not say what it is of has none."""
        for option, wanted in self.named().items():
            column = COLUMN[option]
            frame = frame[frame[column].isin(wanted)] if column in frame else frame.iloc[:0]
        return frame

    def check(self, points: pd.DataFrame) -> None:
        """UsageError where something is asked for that was not recorded."""
        for option, wanted in self.named().items():
            column = COLUMN[option]
            there = set(points[column].dropna()) if column in points else set()
            for name in wanted:
                if name not in there:
                    known = [str(int(x)) if option == "size" else str(x) for x in sorted(there)] or ["none"]
                    others = there_are(str(name), known)
                    raise UsageError(f"--{option} {name}: the session has no such points. {others}")

    def options(self) -> str:
        """The options of ./bench report: '--mpi mpich,openmpi --size 4194304'."""
        return " ".join(f"--{option} {','.join(map(str, wanted))}" for option, wanted in self.named().items())


def bytes_of(words: str) -> int:
    """4194304, 4MB or '4 MB' -> 4194304."""
    size = size_of(words)
    if size is None:
        raise UsageError(f"--size {words}: not a size; give bytes as in 4194304, or 64KB, 4MB")
    return size


def values(points: pd.DataFrame) -> Mapping[str, list[str | int]]:
    """What can be chosen, by option, in the order of the records; sizes in order of size."""
    found: dict[str, list[str | int]] = {}
    for option, column in COLUMN.items():
        names: Iterable[str | int] = points[column].dropna().unique() if column in points else ()
        found[option] = sorted(map(int, names)) if option == "size" else list(map(str, names))
    return found


Array = npt.NDArray[np.float64]
Where = Mapping[str, Any]  # parameter -> value, or (operator, value) with an operator of COMPARE
SETTING = ["session", "system", "mpi"]
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "<": operator.lt,
    ">": operator.gt,
}
STATISTICS: dict[str, Callable[[Array], float]] = {
    "min": lambda x: float(x.min()),
    "mean": lambda x: float(x.mean()),
    "90 %": lambda x: float(np.quantile(x, 0.9)),
    "max": lambda x: float(x.max()),
}
QUANTILES = {"median": "0.5", "90 %": "0.9"}  # statistic -> its name in a histogram


@dataclass(frozen=True)
class Value:
    """One measured number that the claim is about, with the setting and the point that it belongs to.

    A number that could not be had is NaN, and `caveat` says why: the point is there, and must not be forgotten.
    """

    system: str
    mpi: str
    session: str
    point: str
    interval: Interval
    variant: str = ""
    caveat: str = ""  # why this point cannot decide, whatever its interval says
    remark: str = ""  # what a reader must know beside the decision; the interval holds it


@dataclass
class Evidence:
    """Loaded records and the metric frame of evaluate(), which is made when first asked for unless given."""

    records: Records
    evaluated: pd.DataFrame | None = None
    choice: Choice = field(default_factory=Choice)  # of what figures draw; claims are decided on everything

    @cached_property
    def metrics(self) -> pd.DataFrame:
        return evaluate(self.records) if self.evaluated is None else self.evaluated

    @property
    def shown(self) -> pd.DataFrame:
        """The rows of `metrics` that figures draw."""
        return self.choice.of(self.metrics)

    @cached_property
    def studies(self) -> frozenset[str]:
        """Those of which there are points."""
        return frozenset(map(str, self.records.points["study"].unique()))

    def points(self, study: str) -> pd.DataFrame:
        """The points of a study that were measured well."""
        points = self.records.points
        return points[(points["study"] == study) & (points["status"] == "ok")]

    def planned(self, study: str) -> pd.DataFrame:
        """The points of a study that were to be measured, also where they failed."""
        points = self.records.points
        mine = points[points["study"] == study]
        return mine[mine["calibration"].isna()] if "calibration" in mine else mine

    def launches(self, points: pd.DataFrame, quantity: str, statistic: str) -> list[Array]:
        """Per launch the samples of `quantity` on the rank where they are largest; or one of STATISTICS alone. Of rows
        that were not measured well there are none.

        Distributions too long to keep are read off their histograms, whose extremes and quantiles are exact.
        """
        found = []
        for _, ranks in frames.groups(points[points["status"] == "ok"], ["launch"]):
            per_rank = [values for row in ranks.index for values in self.of_rank(row, quantity, statistic)]
            if per_rank:
                found.append(max(per_rank, key=lambda values: float(np.median(values))))
        return found

    def of_rank(self, row: int, quantity: str, statistic: str) -> list[Array]:
        """The same of one row, in a list that is empty where it has no such samples."""
        first, count = self.records.spans.get((row, quantity), (0, 0))
        if count:
            values = self.records.series_values(first, count)
            return [values if statistic == "median" else np.array([STATISTICS[statistic](values)])]
        histogram = self.records.histograms.get((row, quantity))
        if histogram is None:
            return []
        quantile = QUANTILES.get(statistic)
        value = histogram["quantiles"].get(quantile) if quantile else histogram[statistic]
        return [] if value is None else [np.array([float(value)])]

    def state(self, points: pd.DataFrame) -> tuple[str, str]:
        """Why these rows cannot decide, and what must be said beside what they do decide; each may be empty."""
        points = points[points["status"] == "ok"]
        loose = (points["converged"] == False).any()  # noqa: E712 - None where not recorded
        return disturbed(self.disturbance(points)), remark(not loose)

    def disturbance(self, points: pd.DataFrame, *, by_switches: bool = True) -> float | None:
        """The share of these rows' measured time that something else took; None where it was not recorded."""
        known = points["watched_s"].notna().all()
        measured = 0.0 if known else sum(map(self._measured_s, points.index))
        return disturbance(points, measured, by_switches=by_switches)

    def pairs(self, part: pd.DataFrame, quantity: str, rate: bool = False) -> list[tuple[Array, Array]]:
        """Per launch that paused its engine by turns the times of its slowest rank, with the engine and without: of
        each pair one, the median where a repetition has several."""
        found: dict[str, tuple[float, tuple[Array, Array]]] = {}
        good = part.loc[part["status"] == "ok", "launch"]
        for row, launch in zip(good.index, good, strict=True):
            names = (ARMED, quantity, PAUSED + quantity)
            first, *both = (self.records.series_values(*self.records.spans.get((row, name), (0, 0))) for name in names)
            if len(first) and all(len(values) and (values > 0).all() for values in both):
                on, off = (np.median(values.reshape(len(first), -1), axis=1) ** (-1 if rate else 1) for values in both)
                slow = float(np.median(np.concatenate([on, off])))
                if launch not in found or slow > found[launch][0]:
                    found[launch] = slow, (on, off)
        return [both for _, both in found.values()]

    def _measured_s(self, row: int) -> float:
        """How long the samples of a row took; of a study without phases its longest quantity that is a time."""
        samples: dict[str, Array] = {}
        for name in self._quantities.get(row, []):
            if name.endswith("_s") and not name.endswith("_per_s"):
                histogram = self.records.histograms.get((row, name))
                values = self.records.series_values(*self.records.spans.get((row, name), (0, 0)))
                if histogram and not len(values):
                    values = np.array([histogram["count"] * histogram["mean"]])
                whole = name.removeprefix(PAUSED)
                samples[whole] = np.concatenate([samples.get(whole, np.empty(0)), values])
        return measured_s(samples) or max((float(values.sum()) for values in samples.values()), default=0.0)

    @cached_property
    def _quantities(self) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for row, name in (*self.records.spans, *self.records.histograms):
            found.setdefault(row, []).append(name)
        return found


def remark(converged: Any, noisy: Any = False, variant: str = "") -> str:
    """What a reader must know, though the interval over launches holds it and decides."""
    said = []
    if converged is False:
        said.append("its samples did not converge")
    if noisy is True:
        bare = variant == REFERENCE
        said.append("its noise is larger than " + ("5 % of its total" if bare else "its difference to bare"))
    return f"{' and '.join(said)}: the interval over launches includes that" if said else ""


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


def same_work(left: pd.DataFrame, right: pd.DataFrame) -> bool:
    """Whether all launches of both did the same calibrated work, or none at all: only then can times be compared."""
    if "work_units" not in left:
        return True
    done = set(left["work_units"].dropna()), set(right["work_units"].dropna())
    return done[0] == done[1] and len(done[0]) <= 1
