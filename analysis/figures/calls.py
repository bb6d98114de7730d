# SPDX-License-Identifier: BSD-3-Clause
"""Stacked bars: what a solve is made of, by MPI call; a bar a mode and variant, a panel an MPI."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from analysis.evidence import Evidence, Where, matching
from analysis.figures import render, toolkit
from analysis.figures.summary import summary
from analysis.figures.toolkit import Drawn, Plot
from analysis.records import frames
from analysis.words import MPI_ORDER, in_order, mpi_title, seconds_text

MODES = ("blocking", "overlapped", "pipelined")


@dataclass(frozen=True)
class ByCall:
    """The sum of the quantities CALL + suffix for each of `calls`, with what it is called in the figure.

    Of several sizes (`nx`), each is a figure of its own.
    """

    name: str
    study: str
    title: str
    suffixes: tuple[str, ...]
    calls: Mapping[str, str]
    formula: str
    y_label: str
    where: Where = field(default_factory=dict)

    def __call__(self, evidence: Evidence, provenance: str) -> list[Drawn]:
        """A figure a system and size; none where the study left no points."""
        frame = self._frame(evidence)
        if not len(frame):
            return []
        several = {name for name in ("system", "nx") if frame[name].nunique() > 1}
        return [
            _drawn(self, part, provenance, *(str(value) for name, value in zip(("system", "nx"), keys, strict=True)
                                            if name in several))
            for keys, part in frames.groups(frame, ["system", "nx"])
        ]  # fmt: skip

    def _frame(self, evidence: Evidence) -> pd.DataFrame:
        """One row a point, variant and call."""
        parts = []
        for call in self.calls:
            found = [matching(summary(evidence, self.study, f"{call}{suffix}"), self.where) for suffix in self.suffixes]
            first = found[0]
            if "mode" not in first or not first["value"].notna().any():
                continue
            total = sum((part["value"] for part in found[1:]), start=first["value"])
            if len(found) > 1:  # of a sum no interval is known
                first = first.assign(low=float("nan"), high=float("nan"), interval="none: a sum")
            parts.append(first.assign(value=total, call=call)[total.notna()])
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _bars(part: pd.DataFrame) -> list[tuple[str, bool, str]]:
    """What stands on the x axis: mode, with a barrier or not, variant."""
    return [
        (mode, barrier, variant)
        for mode in in_order(part["mode"], MODES)
        for barrier in (False, True)
        for variant in in_order(part["variant"], toolkit.STYLES)
        if len(_of(part, (mode, barrier, variant)))
    ]


def _of(part: pd.DataFrame, bar: tuple[str, bool, str]) -> pd.DataFrame:
    mode, barrier, variant = bar
    return part[(part["mode"] == mode) & (part["barrier"] == barrier) & (part["variant"] == variant)]


def _bar_name(bar: tuple[str, bool, str]) -> str:
    mode, barrier, variant = bar
    return f"{mode}{', barrier' if barrier else ''}, {variant}"


def _drawn(spec: ByCall, part: pd.DataFrame, provenance: str, *words: str) -> Drawn:
    bars = _bars(part)
    caption = f"{spec.title}: {spec.formula}. Medians, on the rank where each is largest. {provenance}"
    part = part.assign(bar=[_bar_name(bar) for bar in zip(part["mode"], part["barrier"], part["variant"], strict=True)])
    plot = Plot(
        x="bar", x_label="mode and variant", y_label=spec.y_label, x_axis="words", series="call", row="call",
        say=seconds_text if spec.suffixes == ("_s",) else "{:,.0f}".format,
        words=lambda value, _: spec.calls.get(value, mpi_title(str(value))),
        look=lambda call, _: toolkit.curve(list(spec.calls).index(call), spec.calls[call]),
        order=(*spec.calls, *map(_bar_name, bars)),
    )  # fmt: skip
    found = _found(spec, part, bars) + toolkit.doubt_words(part)
    paint = functools.partial(_paint, spec, part, bars)
    return Drawn(toolkit.slug(spec.name, *words), spec.title, caption, part, plot, found, paint=paint)


def _paint(spec: ByCall, part: pd.DataFrame, bars: list[tuple[str, bool, str]]) -> Figure:
    mpis = in_order(part["mpi"], MPI_ORDER)
    figure, axes = render.panels([2.6], len(mpis), sharey="row")
    present = set(part["call"])
    for column, mpi in enumerate(mpis):
        _panel(spec, axes[0, column], part[part["mpi"] == mpi], bars, present)
        axes[0, column].set_title(mpi_title(mpi))
    axes[0, 0].set_ylabel(spec.y_label)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4)
    return figure


def _panel(spec: ByCall, axes: Axes, part: pd.DataFrame, bars: list[tuple[str, bool, str]], present: set[str]) -> None:
    """`present`: the calls that any panel has, so that all have the same legend."""
    foot = np.zeros(len(bars))
    for index, (call, words) in enumerate(spec.calls.items()):
        if call not in present:
            continue
        heights = np.array([_height(_of(part, bar), call) for bar in bars])
        axes.bar(
            range(len(bars)), heights, bottom=foot, label=words, color=toolkit.curve(index, words).color, width=0.7
        )
        foot += heights
    axes.set_xticks(range(len(bars)), [_bar_name(bar) for bar in bars], rotation=45, ha="right")
    axes.grid(axis="x", visible=False)
    axes.set_axisbelow(True)
    if spec.suffixes == ("_s",):
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: seconds_text(value)))


def _height(part: pd.DataFrame, call: str) -> float:
    values = part.loc[part["call"] == call, "value"]
    return float(values.iloc[0]) if len(values) else 0.0


def _found(spec: ByCall, part: pd.DataFrame, bars: list[tuple[str, bool, str]]) -> str:
    """The largest share of each bar of each MPI: "MPICH, overlapped, bare: Allreduce 40 %"."""
    said = []
    for (mpi,), mine in frames.groups(part, ["mpi"]):
        for bar in bars:
            shares = _of(mine, bar).groupby("call")["value"].sum()
            total = float(shares.sum())
            if total > 0:
                call: Any = shares.idxmax()
                said.append(f"{mpi_title(str(mpi))}, {_bar_name(bar)}: {spec.calls[call]} {shares[call] / total:.0%}")
    return f"The largest part of each. {'; '.join(said)}." if said else ""
