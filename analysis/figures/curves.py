# SPDX-License-Identifier: BSD-3-Clause
"""Figures of one shape: a recorded quantity over a parameter, a column an MPI, a row a value of another parameter.

A study's file says what it shows as Curves(...); this draws it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from analysis.evidence import Evidence, Where, matching
from analysis.figures import toolkit
from analysis.figures.summary import summary
from analysis.figures.toolkit import Drawn, Plot, VariantStyle, plain_words
from analysis.records import frames
from analysis.words import in_order, mpi_title, seconds_text

STATISTICS = {"min": "best", "median": "median", "mean": "mean", "90 %": "90 %", "max": "slowest"}


@dataclass(frozen=True)
class Curves:
    """What a figure shows.

    `quantity` over `x`, a curve a value of `series` ("variant" or a parameter), a row a value of `row` (a parameter, or
    "statistic"), a figure each combination that there is of values of `apart`, so that no point stands on another.
    `x_axis`: "number", "log", "bytes" or "words" (no line joins the marks). `say` writes a value of the quantity.
    `relative`: values are divided by the same curve's value there, ("period_us", 1000). `lines`: where a horizontal
    line stands, by its label. `meanings`: what stands for the values of `series`, `row` and of words on x.
    """

    name: str
    study: str
    title: str
    quantity: str
    formula: str
    x: str
    x_label: str
    y_label: str
    x_axis: str = "log"
    series: str = "variant"
    row: str = ""
    apart: tuple[str, ...] = ()
    statistics: tuple[str, ...] = ("median",)
    say: Callable[[float], str] = seconds_text
    log_y: bool = True
    where: Where = field(default_factory=dict)
    relative: tuple[str, Any] | None = None
    lines: Mapping[str, float] = field(default_factory=dict)
    meanings: Mapping[Any, str] = field(default_factory=dict)
    words_of: Mapping[str, Callable[[float], str]] = field(default_factory=dict)  # parameter -> how its value is said
    order: tuple[Any, ...] = ()

    def __call__(self, evidence: Evidence, provenance: str) -> list[Drawn]:
        """A figure a system and combination of what stands apart; none where the study left no points."""
        frame = matching(summary(evidence, self.study, self.quantity, self.statistics), self.where)
        if self.x not in frame or (self.series not in frame) or not frame["value"].notna().any():
            return []
        frame = frame[frame[self.x].notna() & frame[self.series].notna()]
        apart = ["system", *(name for name in self.apart if name in frame)]
        several = [frame[name].nunique(dropna=False) > 1 for name in apart]
        return [
            _drawn(self, self._relative(part), provenance,
                   {name: value for name, value, said in zip(apart, keys, several, strict=True) if said})
            for keys, part in frames.groups(frame, apart)
        ]  # fmt: skip

    def _relative(self, frame: pd.DataFrame) -> pd.DataFrame:
        if self.relative is None:
            return frame
        name, place = self.relative
        parts = []
        for _, part in frames.groups(frame, list(dict.fromkeys(["session", "mpi", "statistic", *self._groups()]))):
            reference = part.loc[part[name] == place, "value"]
            base = float(reference.iloc[0]) if len(reference) else float("nan")
            parts.append(part.assign(**{column: part[column] / base for column in ("value", "low", "high")}))
        return pd.concat(parts)

    def _groups(self) -> list[str]:
        return [name for name in (self.series, self.row) if name]

    def words(self, value: Any, parameter: str = "") -> str:
        """A value of a parameter for people."""
        if parameter in self.words_of:
            return self.words_of[parameter](value)
        if isinstance(value, str | bool | np.bool_) and value in self.meanings:  # 1 == True, and is no meaning of it
            return self.meanings[value]
        return f"{value:g}" if isinstance(value, float) else str(value).replace("_", " ")

    def look(self, value: Any, index: int) -> VariantStyle:
        return toolkit.style(str(value)) if self.series == "variant" else toolkit.curve(index, self.words(value))


def _drawn(spec: Curves, part: pd.DataFrame, provenance: str, apart: Mapping[str, Any]) -> Drawn:
    rows = values(spec, part[spec.row]) if spec.row else [None]
    work = toolkit.work_words(part)
    name, title = _called(spec, apart)
    caption = f"{title}: {spec.formula}. {work}{toolkit.interval_words(part)} {provenance}"
    found = described(spec, part, rows, values(spec, part[spec.series]))
    rows_of = spec.row or ("statistic" if part["statistic"].nunique() > 1 else "")
    plot = Plot(
        x=spec.x, x_label=spec.x_label, y_label=spec.y_label, x_axis=spec.x_axis,
        log_y=spec.log_y and bool(part["value"].gt(0).any()), series=spec.series, row=rows_of, say=spec.say,
        words=lambda value, parameter: _name(spec, value, parameter), look=spec.look, lines=spec.lines,
        order=(*spec.order, *toolkit.STYLES, *STATISTICS),
    )  # fmt: skip
    return Drawn(name, title, caption, part, plot, f"{found}{toolkit.doubt_words(part)} {work}".strip())


def _called(spec: Curves, apart: Mapping[str, Any]) -> tuple[str, str]:
    """File name and title of the figure of these values; what its points do not say is not named."""
    given = {name: value for name, value in apart.items() if pd.notna(value)}
    system = given.pop("system", None)
    words = ", ".join(spec.words(value, name) for name, value in given.items())
    title = f"{spec.title} ({words})" if words else spec.title
    return toolkit.slug(spec.name, system, *(f"{name}{plain_words(x, name)}" for name, x in given.items())), title


def described(spec: Curves, part: pd.DataFrame, rows: list[Any], curves: list[Any]) -> str:
    """The ends of the strongest curve of each MPI in words: "MPICH, median: 30 µs (period 1) to 35 µs (period 100)"."""
    said = []
    for (mpi,), mine in frames.groups(part, ["mpi"]):
        for row in rows[:2]:
            panel = mine[mine[spec.row] == row] if spec.row else mine
            for curve in curves[:4]:
                good = panel[(panel[spec.series] == curve) & panel["value"].notna()]
                if not len(good):
                    continue
                low, high = good.loc[good["value"].idxmin()], good.loc[good["value"].idxmax()]
                name = ", ".join(
                    filter(None, [mpi_title(str(mpi)), _name(spec, row, spec.row), _name(spec, curve, spec.series)])
                )
                low_place, high_place = (spec.words(place[spec.x], spec.x) for place in (low, high))
                ends = f"{spec.say(low['value'])} ({low_place}) to {spec.say(high['value'])} ({high_place})"
                said.append(f"{name}: {ends if low_place != high_place else spec.say(low['value'])}")
    return f"{spec.y_label.capitalize()} by {spec.x_label}. {'; '.join(said)}." if said else ""


def _name(spec: Curves, value: Any, parameter: str) -> str:
    return "" if value is None else STATISTICS.get(str(value), spec.words(value, parameter))


def values(spec: Curves, column: Iterable[Any]) -> list[Any]:
    """The values without repetition: variants and those of `order` in their order, others sorted."""
    found = sorted(pd.Series(list(column)).dropna().unique(), key=lambda value: (str(type(value)), value))
    return in_order(found, [*spec.order, *toolkit.STYLES, *STATISTICS])
