# SPDX-License-Identifier: BSD-3-Clause
"""A sweep of the engine's settings in a study of overlap: a curve a value, and a heat map where two were swept.

A setting that was swept is a parameter that points have and those of bare have not (`./bench run --set burst=1,5,20`).
Where variant `limit` was measured at the same points but for the settings, it is a line or stands in the caption.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.evidence import Evidence
from analysis.figures import style, toolkit
from analysis.figures.style import Plot, plain_words
from analysis.figures.toolkit import Drawn
from analysis.metrics.evaluate import REFERENCE, measured_ratio
from analysis.metrics.formulas import METRICS
from analysis.metrics.times import LIMIT
from analysis.records import frames
from analysis.records.load import CALIBRATED, identity
from analysis.words import mpi_title, plain

ALONG = ("size_bytes", "comp_over_comm", "comp_s")  # what curves run along, the first of them that has two values
SHOWN = ("overlap_efficiency", "compute_inflation")
TITLES = {"size_bytes": "message size", "comp_over_comm": "computation / communication", "comp_s": "computation (s)"}


@dataclass(frozen=True)
class Sweep:
    """The figures of one study: one a variant, system and point of what was not swept."""

    study: str

    def __call__(self, evidence: Evidence, provenance: str) -> list[Drawn]:
        frame = evidence.metrics
        if not len(frame):
            return []
        frame = frame[(frame["study"] == self.study) & frame["metric"].isin(SHOWN)]
        swept = _swept(frame, evidence.records.parameters)
        if not swept or len(swept) > 2:
            return []
        limits = frame[(frame["variant"] == LIMIT) & frame["value"].notna()]
        frame = frame[frame[list(swept)].notna().all(axis=1) & (frame["variant"] != REFERENCE)]
        drawn: list[Drawn] = []
        for (variant, system), part in frames.groups(frame, ["variant", "system"]):
            name = (self.study, variant, system if frame["system"].nunique() > 1 else None)
            if len(swept) == 1:
                drawn += _curves(part, limits, swept[0], name, evidence.records.parameters, provenance)
            else:
                drawn += _maps(part, limits, swept, name, evidence.records.parameters, provenance)
        return drawn


def _swept(frame: pd.DataFrame, parameters: Sequence[str]) -> list[str]:
    """The parameters with several values that bare has not: no engine takes them there."""
    measured = frame[frame["value"].notna()]
    bare, others = measured[measured["variant"] == REFERENCE], measured[measured["variant"] != REFERENCE]
    return [
        name for name in parameters if name in frame and not bare[name].notna().any() and others[name].nunique() > 1
    ]


def _points(
    part: pd.DataFrame, besides: Sequence[str], parameters: Sequence[str]
) -> Iterator[tuple[str, pd.DataFrame]]:
    """The parts that differ in nothing but `besides`, each with its other parameters in words; a session of its own
    where an MPI has several."""
    follows = CALIBRATED if {"comp_over_comm", "comp_s"} & set(part) else set()  # from the ratio, or the time
    told = {*besides, *follows}
    rest = [name for name in parameters if name in part and name not in told and part[name].nunique() > 1]
    if (part.groupby("mpi")["session"].nunique() > 1).any():
        rest.append("session")
    for values, rows in frames.groups(part, rest) if rest else [((), part)]:
        yield ", ".join(f"{name} {plain_words(value, name)}" for name, value in zip(rest, values, strict=True)), rows


def _limit_of(part: pd.DataFrame, limits: pd.DataFrame, swept: Sequence[str]) -> pd.DataFrame:
    """The rows of variant limit at the points of `part` but for the settings, which it has not."""
    there = {
        identity({name: value for name, value in json.loads(point).items() if name not in swept})
        for point in part["point"].unique()
    }
    same = limits["point"].isin(there)
    for name in ("session", "system", "mpi"):
        same &= limits[name].isin(part[name].unique())
    return limits[same]


def _limit_words(limits: pd.DataFrame) -> str:
    """What the limit reaches where each MPI has one point: nothing where it was not measured."""
    there = limits[limits["metric"] == SHOWN[0]].drop_duplicates("mpi")
    said = [f"{mpi_title(str(row['mpi']))} {plain(row['value'])}" for row in frames.rows(there)]
    return f"Efficiency of the limit, the same without MPI: {', '.join(said)}. " if said else ""


def _curves(
    part: pd.DataFrame,
    limits: pd.DataFrame,
    swept: str,
    name: tuple[Any, ...],
    parameters: Sequence[str],
    provenance: str,
) -> Iterator[Drawn]:
    along = next((axis for axis in ALONG if axis in part and part[axis].nunique() > 1), swept)
    for where, rows in _points(part, (along, swept), parameters):
        if rows["value"].notna().any():
            yield _drawn_curves(rows, _limit_of(rows, limits, [swept]), along, swept, (*name, where), provenance)


def _drawn_curves(
    part: pd.DataFrame, limits: pd.DataFrame, along: str, swept: str, name: tuple[Any, ...], provenance: str
) -> Drawn:
    title = f"{name[1]} with {swept} swept"
    limit_words = _limit_words(limits) if along == swept else ""
    caption = (
        f"{title}, {', '.join(filter(None, map(str, name)))}. {limit_words}{toolkit.interval_words(part)} {provenance}"
    )
    points = pd.concat([part, limits]) if along != swept and len(limits) else part
    x = along
    if along == "comp_over_comm":
        x, points = "measured", points.assign(measured=measured_ratio(points))
    plot = Plot(
        x=x, place=along, x_label=TITLES.get(along, along), y_label="value",
        x_axis="bytes" if along == "size_bytes" else "log",
        series=swept if along != swept else "variant", row="metric", order=SHOWN, words=_words,
        look=lambda value, index: style.curve(index, _label(swept, None if along == swept else value)),
    )  # fmt: skip
    return Drawn(toolkit.slug("sweep", swept, *name), title, caption, points, plot)


def _words(value: Any, parameter: str) -> str:
    return METRICS[value].title if parameter == "metric" else plain_words(value, parameter)


def _label(swept: str, value: Any) -> str:
    return swept if value is None else f"{swept} {value:g}"


def _maps(
    part: pd.DataFrame,
    limits: pd.DataFrame,
    swept: Sequence[str],
    name: tuple[Any, ...],
    parameters: Sequence[str],
    provenance: str,
) -> Iterator[Drawn]:
    """One map a point: over two settings only one value can be shown."""
    part = part[part["metric"] == SHOWN[0]]
    for where, rows in _points(part, swept, parameters):
        if rows["value"].notna().any():
            yield _drawn_map(rows, _limit_words(_limit_of(rows, limits, swept)), swept, (*name, where), provenance)


def _drawn_map(
    part: pd.DataFrame, limit_words: str, swept: Sequence[str], name: tuple[Any, ...], provenance: str
) -> Drawn:
    x, y = swept
    title = f"{name[1]} over {x} and {y}"
    caption = (
        f"{title}, {', '.join(filter(None, map(str, name)))}: {METRICS[SHOWN[0]].formula}, medians; a cross is a "
        f"setting without a value. {limit_words}{provenance}"
    )
    plot = Plot(
        x=x, x_label=x, y_label="overlap efficiency", series=y, cells=1.0, say="{:.2f}".format,
        look=lambda value, index: style.curve(index, f"{y} {value:g}"),
    )  # fmt: skip
    return Drawn(toolkit.slug("sweep", *swept, *name), title, caption, part, plot)
