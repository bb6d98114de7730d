# SPDX-License-Identifier: BSD-3-Clause
"""Scaling: a panel a study with its time over the ranks, and one with what the engine saves in each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullLocator

from analysis.evidence import Evidence
from analysis.figures import style, toolkit
from analysis.figures.by_ranks import by_ranks
from analysis.figures.plot import Plot
from analysis.figures.toolkit import Drawn
from analysis.metrics.evaluate import REFERENCE
from analysis.records import frames
from analysis.words import MPI_ORDER, in_order, mpi_title, plain, seconds_text

COLUMNS = 3
TICKS = 4  # an axis at most
GUIDE = "strong: as many times faster as there are more ranks"


@dataclass(frozen=True)
class Scaling:
    """The figure of these studies, one an MPI; `strong`: of one problem, whatever the ranks. None of a single session:
    nothing scales there."""

    name: str
    studies: tuple[str, ...]
    strong: tuple[str, ...]
    title: str

    def __call__(self, evidence: Evidence, provenance: str) -> list[Drawn]:
        frame = by_ranks(evidence, self.studies)
        if not len(frame) or frame["ranks"].nunique() < 2:
            return []
        mpis = in_order(frame["mpi"], MPI_ORDER)
        return [self._draw(frame[frame["mpi"] == mpi], mpi, len(mpis) > 1, provenance) for mpi in mpis]

    @toolkit.styled
    def _draw(self, part: pd.DataFrame, mpi: str, several: bool, provenance: str) -> Drawn:
        shown = list(dict.fromkeys(sorted(part["what"], key=lambda what: self.studies.index(what.split(" ")[0]))))
        figure, grid = toolkit.panels(-(-(len(shown) + 1) // COLUMNS), COLUMNS, 1.9, share_y="none")
        panels = list(grid.ravel())
        for axes, what in zip(panels, shown, strict=False):
            self._panel(axes, part[part["what"] == what], what)
        _saved(panels[len(shown)], part, shown)
        for axes in panels[len(shown) + 1 :]:
            axes.set_visible(False)
        for axes in panels[: len(shown) + 1]:
            _rank_axis(axes, sorted(part["ranks"].unique()))
        toolkit.legend(figure, part, {GUIDE: style.IDEAL} if self._is_strong(shown) else {}, crossed=False)
        caption = (
            f"{self.title}, {mpi_title(mpi)}: until the slowest rank is done, over the number of ranks; each rank has "
            f"the same work (weak), or its share of one problem (strong). What is saved is of medians, "
            f"without an interval. {toolkit.interval_words(part)} {provenance}"
        )
        toolkit.footer(figure, caption)
        plot = Plot(
            x="ranks", x_label="ranks", y_label="time", x_axis="log", log_y=True, row="what", say=seconds_text,
            order=tuple(shown),
        )  # fmt: skip
        name = toolkit.slug(self.name, mpi if several else None)
        return Drawn(name, self.title, caption, figure, part, plot, _found(part, shown))

    def _is_strong(self, shown: Sequence[str]) -> bool:
        return any(what.split(" ")[0] in self.strong for what in shown)

    def _panel(self, axes: Axes, part: pd.DataFrame, what: str) -> None:
        strong = self._is_strong([what])
        for variant in in_order(part["variant"], style.STYLES):
            mine = part[part["variant"] == variant]
            toolkit.series(axes, mine["ranks"].to_numpy(float), mine, style.style(variant))
        bare = part[(part["variant"] == REFERENCE) & part["value"].notna()]
        if strong and len(bare):
            first = bare.iloc[0]
            axes.plot(bare["ranks"], first["value"] * first["ranks"] / bare["ranks"], **style.IDEAL)
        toolkit.log_y(axes, seconds_text, subs=(1, 2, 5))
        axes.set_title(f"{_short(what)} ({'strong' if strong else 'weak'})")
        if not strong:  # nearly level: a whole decade shows that it is
            low, high = axes.get_ylim()
            middle = (low * high) ** 0.5
            axes.set_ylim(min(low, middle / 3), max(high, middle * 3))


def _short(what: str) -> str:
    """The study without its group's name."""
    return what.partition("-")[2] or what


def _saved(axes: Axes, part: pd.DataFrame, shown: Sequence[str]) -> None:
    for index, what in enumerate(shown):
        mine = part[(part["what"] == what) & (part["variant"] != REFERENCE)]
        look = style.curve(index, _short(what))
        for _, curve in frames.groups(mine, ["variant"]):
            axes.plot(curve["ranks"], curve["saved"], label=look.label, **look.plot())
    axes.set_title("time saved, of bare's")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.0f} %"))
    axes.legend(fontsize=6, loc="upper left", bbox_to_anchor=(1.02, 1.0))


def _rank_axis(axes: Axes, places: Sequence[int]) -> None:
    step = -(-len(places) // TICKS)
    axes.set_xscale("log", base=2)
    axes.set_xticks(places[::step], [str(place) for place in places[::step]])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.tick_params(labelbottom=True)  # below it there may be no panel
    axes.set_xlabel("ranks")


def _found(part: pd.DataFrame, shown: Sequence[str]) -> str:
    """What is saved at the fewest and the most ranks, study by study."""
    said = []
    for what in shown:
        mine = part[(part["what"] == what) & (part["variant"] != REFERENCE) & part["saved"].notna()]
        if len(mine):
            ends: Any = mine.iloc[[0, -1]]
            words = [f"{plain(100 * row['saved'], 0)} % at {row['ranks']} ranks" for row in frames.rows(ends)]
            said.append(f"{_short(what)}: {', '.join(dict.fromkeys(words))}")
    return f"Saved of bare's time, of medians and without an interval: {'; '.join(said)}." if said else ""
