# SPDX-License-Identifier: BSD-3-Clause
"""What a figure's points mean on paper: which column stands where. The report draws them again from this, in the page.

matplotlib draws what papers print; both draw the same points, which are Drawn.points.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.figures import style
from analysis.figures.style import VariantStyle
from analysis.words import MPI_ORDER, bytes_text, in_order, mpi_title, seconds_text

Array = npt.NDArray[np.float64]


def plain_words(value: Any, parameter: str) -> str:
    """A value of a column for people."""
    if parameter == "mpi":
        return mpi_title(str(value))
    if parameter == "size_bytes":
        return bytes_text(float(value))
    if parameter == "comp_s":
        return seconds_text(float(value))
    return f"{value:g}" if isinstance(value, float) else str(value).replace("_", " ")


def variant_look(value: Any, _index: int) -> VariantStyle:
    """A curve a variant."""
    return style.style(str(value))


@dataclass(frozen=True)
class Plot:
    """`value` over `x`: a curve a value of `series`, a column of panels a value of `column`, a row a value of `row`.

    `x_axis`: "number", "log", "bytes" or "words" (categories, one below the other). `lines`: label -> where a line of
    one value stands; `guides`: label -> the curve that it is; `references`: label -> the column that it is of bare's
    points, of categories of each; `upright`: label -> places on x. `say_x`: a place on x, where not as usual. `lowest`
    and `highest`: what lies beyond is drawn at the edge, with what `beyond` says of it. `cells`: on paper a map, a cell
    each value of x and series, whose colours end at this value. `order`: of the values of series, row and x.
    """

    x: str
    x_label: str
    y_label: str
    x_axis: str = "log"
    log_y: bool = False
    series: str = "variant"
    column: str = "mpi"
    row: str = ""
    say: Callable[[float], str] = "{:.3g}".format
    words: Callable[[Any, str], str] = plain_words
    look: Callable[[Any, int], VariantStyle] = variant_look
    lines: Mapping[str, float] = field(default_factory=dict)
    guides: Mapping[str, Callable[[Array], Array]] = field(default_factory=dict)
    references: Mapping[str, str] = field(default_factory=dict)
    upright: Mapping[str, Sequence[float]] = field(default_factory=dict)
    order: tuple[Any, ...] = ()
    hollow: Callable[[Mapping[str, Any]], bool] = lambda point: point.get("converged") is False  # whose mark is hollow
    caption: str = ""  # in place of the figure's own, where what it says is not so here
    joined: bool = True  # whether a line joins the points of a curve
    lowest: float | None = None
    highest: float | None = None
    beyond: Callable[[Mapping[str, Any]], str] = lambda point: f"{point['value']:.3g}".replace("-", "−")
    cells: float | None = None
    place: str = ""  # the column that tells places apart where x was measured; else x itself
    say_x: Callable[[float], str] | None = None

    @property
    def x_words(self) -> Callable[[float], str]:
        """How a place on a numeric x is said."""
        return self.say_x or (bytes_text if self.x_axis == "bytes" else "{:g}".format)

    @property
    def flat(self) -> bool:
        """Whether categories stand one below the other, and values run to the right."""
        return self.x_axis == "words"

    def values(self, points: pd.DataFrame, name: str) -> list[Any]:
        """The values of a column in the order in which they are drawn."""
        found = sorted(points[name].dropna().unique(), key=lambda value: (str(type(value)), value))
        return in_order(found, MPI_ORDER if name == "mpi" else self.order)
