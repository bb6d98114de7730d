# SPDX-License-Identifier: BSD-3-Clause
"""Which of the engine's settings matters, and at which number of ranks: a map of what each of them saves there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable

from analysis.evidence import Evidence
from analysis.figures import style, toolkit
from analysis.figures.by_ranks import by_ranks
from analysis.figures.overlap_map import COLORS, NORM
from analysis.figures.plot import Plot
from analysis.figures.toolkit import Drawn
from analysis.metrics.evaluate import REFERENCE
from analysis.words import MPI_ORDER, in_order, mpi_title

PERFECT = 0.5  # of equal parts; the colours end there
LABEL = "time saved, of bare's"
NO_INTERVAL = "none: a share of two medians"


@dataclass(frozen=True)
class SettingsMap:
    """One figure an MPI, a panel a workload, which is the last word of a study's name; a row a variant and setting, a
    column a number of ranks."""

    name: str
    studies: tuple[str, ...]
    title: str

    def __call__(self, evidence: Evidence, provenance: str) -> list[Drawn]:
        frame = by_ranks(evidence, self.studies)
        frame = frame[frame["variant"] != REFERENCE] if len(frame) else frame
        if not len(frame) or not frame["saved"].notna().any() or frame["setting"].nunique() < 2:
            return []
        mpis = in_order(frame["mpi"], MPI_ORDER)
        return [self._draw(frame[frame["mpi"] == mpi], mpi, len(mpis) > 1, provenance) for mpi in mpis]

    @toolkit.styled
    def _draw(self, part: pd.DataFrame, mpi: str, several: bool, provenance: str) -> Drawn:
        part = part.assign(row=part["variant"] + ", " + part["setting"], what=[_workload(x) for x in part["what"]])
        shown = sorted(part["what"].unique())
        rows = list(table_of(part).index)
        figure, grid = toolkit.panels(1, len(shown), 0.4 + 0.22 * len(rows), share_y="none")
        for axes, what in zip(grid[0], shown, strict=True):
            _panel(axes, table_of(part[part["what"] == what]).reindex(rows))
            axes.set_title(what)
            axes.tick_params(labelleft=axes is grid[0, 0])
        bar = figure.colorbar(ScalarMappable(NORM, COLORS), ax=list(grid[0]), shrink=0.7, extend="both")
        bar.set_ticks([-1, 0, 1], labels=[f"{-PERFECT:.0%}", "0", f"{PERFECT:.0%}"])
        bar.set_label(LABEL)
        caption = (
            f"{self.title}, {mpi_title(mpi)}: 1 - time / bare's time in the same session, each setting changed alone, "
            f"of medians and without an interval. {provenance}"
        )
        toolkit.footer(figure, caption)
        plot = Plot(
            x="ranks", x_label="ranks", y_label=LABEL, series="row", row="what",
            say=lambda value: f"{100 * value:.0f} %",
            look=lambda value, index: style.curve(index, str(value)),
        )  # fmt: skip
        drawn = part.assign(value=part["saved"], low=np.nan, high=np.nan, interval=NO_INTERVAL)
        name = toolkit.slug(self.name, mpi if several else None)
        return Drawn(name, self.title, caption, figure, drawn, plot, _found(part))


def _workload(what: str) -> str:
    return what.rpartition("-")[2]


def table_of(part: pd.DataFrame) -> pd.DataFrame:
    """What was saved: a row a variant and setting, in their order, a column a number of ranks."""
    table = part.pivot_table(index="row", columns="ranks", values="saved", aggfunc="median", dropna=False)
    return table.reindex(in_order(sorted(part["row"], key=_order), ()))


def _order(row: str) -> tuple[Any, ...]:
    """The defaults before the settings, and a setting's values by size."""
    variant, _, setting = row.partition(", ")
    name, _, value = setting.rpartition(" ")
    return variant, name, float(value) if name else 0.0


def _panel(axes: Axes, table: pd.DataFrame) -> None:
    values = table.to_numpy(float)
    axes.imshow(values / PERFECT, aspect="auto", cmap=COLORS, norm=NORM)
    for (row, column), value in np.ndenumerate(values):
        words = f"{100 * value:.0f}" if np.isfinite(value) else "×"
        axes.annotate(words, (column, row), ha="center", va="center", fontsize=6,
                      color="white" if value > 0.7 * PERFECT else "black")  # fmt: skip
    axes.set_xticks(range(len(table.columns)), [str(ranks) for ranks in table.columns])
    axes.set_yticks(range(len(table.index)), list(table.index))
    axes.set_xlabel("ranks")
    axes.grid(visible=False)


def _found(part: pd.DataFrame) -> str:
    """By how much each setting moves what is saved, at most: the largest first."""
    moved: dict[str, float] = {}
    for _, here in part.groupby(["what", "variant", "ranks"]):
        plain = here.loc[here["row"].str.endswith("defaults"), "saved"]
        for setting, saved in zip(here["setting"], here["saved"], strict=True):
            if len(plain) and np.isfinite(saved) and " " in setting:
                name = setting.rpartition(" ")[0]
                moved[name] = max(moved.get(name, 0.0), abs(saved - plain.iloc[0]))
    words = [f"{name} {100 * by:.0f}" for name, by in sorted(moved.items(), key=lambda item: -item[1])]
    said = "Percentage points by which a setting moves what is saved, at most, of medians and without an interval"
    return f"{said}: {', '.join(words)}." if words else ""
