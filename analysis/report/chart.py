# SPDX-License-Identifier: BSD-3-Clause
"""A figure as SVG for the page: the same points as matplotlib's, each a link to its row in the table below.

Colour is never alone: every curve has a marker and a dash of its own. A panel an MPI (and a session, of several), a row
of panels a value of the figure's row; categories stand one below the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from analysis.figures.toolkit import Drawn, Plot, VariantStyle
from analysis.records import frames
from analysis.words import MPI_ORDER, in_order

MOST_TICKS = 6
NICE = (1.0, 2.0, 5.0, 10.0)


@dataclass(frozen=True)
class Scale:
    """A linear, logarithmic ("log") or bent ("bent": logarithmic, but with zero) axis from `low` to `high`."""

    low: float
    high: float
    kind: str = "linear"
    base: int = 10
    unit: float = 1.0  # of a bent axis: where it begins to be logarithmic

    @classmethod
    def over(cls, values: Iterable[float], kind: str = "linear", base: int = 10, room: float = 0.06) -> Scale:
        """One that holds all finite values, with some room at both ends; "log" needs positive ones."""
        found = sorted(value for value in values if math.isfinite(value))
        positive = [value for value in found if value > 0]
        if kind == "log" and len(positive) < len(found):
            kind = "bent" if found[0] >= 0 and positive else "linear"
        unit = positive[0] if positive else 1.0
        plain = cls(*((found[0], found[-1]) if found else (1.0, 2.0)), kind, base, unit)
        low, high = plain._of(plain.low), plain._of(plain.high)
        narrow = 0.5 if kind == "linear" else (math.log(2) - (high - low)) / 2
        margin = max(room * (high - low), narrow) if kind != "linear" else room * (high - low) or narrow
        return cls(plain._back(low - margin), plain._back(high + margin), kind, base, unit)

    def _of(self, value: float) -> float:
        if self.kind == "log":
            return math.log(value)
        return math.asinh(value / self.unit) if self.kind == "bent" else value

    def _back(self, place: float) -> float:
        if self.kind == "log":
            return math.exp(place)
        return self.unit * math.sinh(place) if self.kind == "bent" else place

    def at(self, value: float) -> float:
        """0 at the low end, 1 at the high one; what lies beyond stands at the edge."""
        if self.kind == "log" and value <= 0:
            return 0.0
        low, high = self._of(self.low), self._of(self.high)
        return min(1.0, max(0.0, (self._of(value) - low) / (high - low)))

    def ticks(self) -> list[float]:
        """The values that are written."""
        if self.kind == "linear":
            return self._even()
        found = self._powers((1,) if self.base == 2 else (1, 2, 5))
        while len(found) > MOST_TICKS:
            found = found[:: -(-len(found) // MOST_TICKS)]
        return ([0.0] if self.kind == "bent" else []) + found or [self.low, self.high]

    def _even(self) -> list[float]:
        rough = (self.high - self.low) / (MOST_TICKS - 1)
        power = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 1.0
        wide = self.high - self.low
        step = next(power * nice for nice in NICE if wide // (power * nice) < MOST_TICKS)
        first = math.ceil(self.low / step)
        return [round(step * index, 12) for index in range(first, math.floor(self.high / step + 1e-9) + 1)]

    def _powers(self, factors: tuple[int, ...]) -> list[float]:
        low = self.low if self.kind == "log" else self.unit
        powers = range(math.floor(math.log(low, self.base)), math.ceil(math.log(max(self.high, low), self.base)) + 1)
        every = [factor * float(self.base) ** power for power in powers for factor in factors]
        return [value for value in every if low * 0.999 <= value <= self.high * 1.001]


WIDTH, LEFT, RIGHT, TOP, BOTTOM = 860, 62, 10, 20, 34  # of a figure; of a panel's margins
TALL, LINE = 150, 11  # of a panel; of a mark within a category
DASHES = {"-": "", "--": "6 3", "-.": "6 2 1 2", ":": "1 2"}
TEXT = Markup('<text class="{}" x="{:.1f}" y="{:.1f}">{}</text>')
FRAME = Markup('<path class="grid" d="{}"/><text class="head" y="{}">{}</text><text class="sub" y="-6">{}</text>{}')
MARK = Markup('<path class="bar" d="{}"/><use href="#{}"/>')
HATCHED = Markup(
    '<rect class="hatched" width="{:.0f}" height="{:.0f}"/><text class="said" x="4" y="{:.0f}">simulated</text>'
)
NO_VALUE = Markup('<use href="#mx"/>')
POINT = Markup('<a href="#r{}" tabindex="-1" transform="translate({:.1f} {:.1f})"{}><title>{}</title>{}</a>')
GUIDES = ("8 3", "2 3", "5 2 1 2")  # of lines that no measurement is
MARKERS = {
    "o": "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z",
    "s": "M-3.2-3.2h6.4v6.4h-6.4z",
    "D": "M0-4.4L4.4 0 0 4.4-4.4 0z",
    "^": "M0-4.2L4 3.2h-8z",
    "v": "M0 4.2L4-3.2h-8z",
    "<": "M-4.2 0L3.2-4v8z",
    ">": "M4.2 0L-3.2-4v8z",
    "P": "M-1.5-4h3v2.5h2.5v3h-2.5v2.5h-3v-2.5h-2.5v-3h2.5z",
    "*": "M0-5L1.2-1.6 4.8-1.5 1.9.6 2.9 4 0 2-2.9 4-1.9.6-4.8-1.5-1.2-1.6z",
    "h": "M0-4.2L3.6-2.1v4.2L0 4.2-3.6 2.1v-4.2z",
    "p": "M0-4.2L4-1.3 2.5 3.4h-5L-4-1.3z",
    "H": "M-2.1-3.6h4.2L4.2 0 2.1 3.6h-4.2L-4.2 0z",
    "X": "M-4-2.5L-2.5-4 0-1.5 2.5-4 4-2.5 1.5 0 4 2.5 2.5 4 0 1.5-2.5 4-4 2.5-1.5 0z",
    "x": "M-3.2-3.2L3.2 3.2M-3.2 3.2L3.2-3.2",
    "_": "M-5-1h10v2h-10z",
}


@dataclass(frozen=True)
class Entry:
    """A line of the legend: how a curve looks, and what it is called. `dash` of a guide, which has no marker."""

    label: str
    color: str = ""
    marker: str = ""
    dash: str = ""


@dataclass(frozen=True)
class Chart:
    """The picture and its legend."""

    svg: Markup
    legend: list[Entry]


def _symbol(marker: str) -> str:
    return f"m{list(MARKERS).index(marker if marker in MARKERS else 'o')}"


@dataclass(frozen=True)
class _Curve:
    value: Any
    look: VariantStyle
    index: int

    @property
    def color(self) -> str:
        return self.look.color.lstrip("#").lower()

    @property
    def marker(self) -> str:
        return _symbol(self.look.marker)

    @property
    def dash(self) -> str:
        line = self.look.line
        return DASHES[line] if isinstance(line, str) else " ".join(f"{2 * length:g}" for length in line[1])


def draw(drawn: Drawn, name: str, rows: Sequence[int], words: Sequence[str]) -> Chart:
    """The chart of a figure. `rows`: the number of each point's row in the tables; `words`: what it says when pointed
    at; `name`: of the figure, as it is part of identifiers."""
    plot = drawn.plot
    points = drawn.points.reset_index(drop=True)
    curves = [
        _Curve(value, plot.look(value, index), index) for index, value in enumerate(plot.values(points, plot.series))
    ]
    columns = list(_columns(points, plot))
    levels = plot.values(points, plot.row) if plot.row else [None]
    painter = _Painter(plot, points, curves, rows, words, drawn.simulated)
    width = WIDTH / max(1, min(len(columns), 4))
    pictures = []  # of the columns, which stand one below the other where the page is narrow
    for column in columns:
        body, y = [], 4.0
        for level in levels:
            here = points[points[plot.row] == level] if plot.row else points
            panel, height = painter.row(here, column, width, y, plot.words(level, plot.row) if plot.row else "")
            body.append(panel)
            y += height
        picture = Markup('<svg viewBox="0 0 {:.0f} {:.0f}">{}</svg>')
        pictures.append(picture.format(width, y, Markup("").join(body)))
    least = 0.72 if len(columns) < 4 else 0.95  # how much smaller one may be drawn
    described = f"{drawn.caption} {drawn.found}".strip()
    svg = Markup(
        '<div class="chart" style="--least:{m:.0f}px" role="group" aria-label="{t}" aria-describedby="{n}-d">'
        '<span id="{n}-d" hidden>{d}</span>{b}</div>'
    ).format(m=least * width, n=name, t=drawn.title, d=described, b=Markup("").join(pictures))
    guides = [
        Entry(label, dash=GUIDES[index % 3])
        for index, label in enumerate((*plot.guides, *plot.references, *plot.lines))
    ]
    return Chart(svg, [Entry(curve.look.label, curve.color, curve.marker, curve.dash) for curve in curves] + guides)


def _columns(points: pd.DataFrame, plot: Plot) -> Iterator[tuple[tuple[str, str], pd.Series[bool]]]:
    """Side by side: the MPIs, and within each the sessions where there are several. Titles and which points."""
    sessions = frames.unique(points["session"]) if "session" in points else []
    for value in in_order(points[plot.column], MPI_ORDER):
        mine = points[plot.column] == value
        for session in sessions if len(sessions) > 1 else [None]:
            chosen = mine if session is None else mine & (points["session"] == session)
            if chosen.any():
                yield (plot.words(value, plot.column), str(session or "")), chosen


@dataclass(frozen=True)
class _Painter:
    """Paints rows of panels of one figure."""

    plot: Plot
    points: pd.DataFrame
    curves: list[_Curve]
    rows: Sequence[int]
    words: Sequence[str]
    simulated: bool = False  # its panels are hatched

    @property
    def flat(self) -> bool:
        """Whether categories stand one below the other, and values run to the right."""
        return self.plot.flat

    def row(self, here: pd.DataFrame, column: Any, width: float, top: float, label: str) -> tuple[Markup, float]:
        """The panel of a column in one row, `here` its points of all columns, and how high it is."""
        title, chosen = column
        values = self._values(here)
        places = self.plot.values(here, self.plot.x) if self.flat else []
        present = [curve for curve in self.curves if curve.value in set(here[self.plot.series])]
        height = max(40.0, len(places) * (LINE * len(present) + 6.0)) if self.flat else float(TALL)
        longest = max((len(self.say_place(place)) for place in places), default=0)
        left = min(max(LEFT, 8 + 6.3 * longest), width * 0.55)
        above = TOP + (12 if label else 0) + (12 if title[1] else 0)
        mine = here[chosen.loc[here.index]]
        panel = _Panel(self, mine, present, values, self._x(), places, width - left - RIGHT, height)
        place = Markup('<g transform="translate({:.0f} {:.0f})">{}</g>')
        found = [place.format(left, top + above, panel.paint(title))]
        if label or not self.flat:
            words = ": ".join(filter(None, [label, "" if self.flat else self.plot.y_label]))
            found.append(Markup('<text class="row" x="2" y="{:.0f}">{}</text>').format(top + 8, words))
        return Markup("").join(found), height + above + BOTTOM

    def _values(self, here: pd.DataFrame) -> Scale:
        plot = self.plot
        known = here.loc[here["value"].notna(), ["value", "low", "high"]].to_numpy(float)
        spread = [*known[:, 0], *np.clip(known[:, 1:].ravel(), plot.lowest, plot.highest)] if len(known) else []
        found = np.clip([*spread, *plot.lines.values()], plot.lowest, plot.highest).tolist()
        log = plot.log_y and all(value > 0 for value in known[:, 0])
        return Scale.over([value for value in found if value > 0] if log else found, "log" if log else "linear")

    def _x(self) -> Scale:
        if self.flat:
            return Scale(0, 1)
        kind = "linear" if self.plot.x_axis == "number" else "log"
        return Scale.over(pd.to_numeric(self.points[self.plot.x]), kind, 2 if self.plot.x_axis == "bytes" else 10)

    def say_place(self, place: Any) -> str:
        return self.plot.words(place, self.plot.x).replace("\n", " ")


@dataclass(frozen=True)
class _Panel:
    painter: _Painter
    part: pd.DataFrame
    present: list[_Curve]  # in the row of panels
    values: Scale
    x: Scale
    places: list[Any]
    width: float
    height: float

    def paint(self, title: tuple[str, str]) -> Markup:
        hatched = [HATCHED.format(self.width, self.height, self.height - 4)] if self.painter.simulated else []
        parts = [*hatched, self._frame(title), *self._guides()]
        parts += [part for order, curve in enumerate(self.present) for part in self._curve(curve, order)]
        return Markup("").join(parts)

    def _frame(self, title: tuple[str, str]) -> Markup:
        plot, flat = self.painter.plot, self.painter.flat
        below, beside = (self.values, self.x) if flat else (self.x, self.values)
        say = plot.say if flat else plot.x_words
        marks = [(self.width * below.at(tick), say(tick)) for tick in _apart(below.ticks(), below, self.width)]
        lines = "".join(f"M{x:.1f} 0V{self.height:.0f}" for x, _ in marks)
        texts = [TEXT.format("x", x, self.height + 12, words) for x, words in marks]
        if flat:
            step = self.height / max(1, len(self.places))
            levels = [((index + 0.5) * step, self.painter.say_place(place)) for index, place in enumerate(self.places)]
            lines += "".join(f"M0 {index * step:.1f}H{self.width:.0f}" for index in range(len(self.places) + 1))
        else:
            levels = [(self.height * (1 - beside.at(tick)), plot.say(tick)) for tick in beside.ticks()]
            lines += "".join(f"M0 {y:.1f}H{self.width:.0f}" for y, _ in levels)
        texts += [TEXT.format("y", -6, y + 3.5, words) for y, words in levels]
        label = plot.y_label if flat else plot.x_label
        if label:
            texts.append(TEXT.format("x", self.width / 2, self.height + 26, label))
        return FRAME.format(lines, -18 if title[1] else -6, *title, Markup("").join(texts))

    def _guides(self) -> Iterator[Markup]:
        plot = self.painter.plot
        path = Markup('<path class="guide" stroke-dasharray="{}" d="{}"/>')
        if self.x.kind == "log":
            fine: Any = np.geomspace(self.x.low, self.x.high, 60)
        else:
            fine = np.linspace(max(0, self.x.low), self.x.high, 60)
        for index, curve in enumerate(plot.guides.values()):
            every = zip(fine, curve(fine), strict=True)
            inside = [(x, y) for x, y in every if self.values.low <= y <= self.values.high]
            yield path.format(GUIDES[index % 3], _line([(self.width * self.x.at(x), self._y(y)) for x, y in inside]))
        for index, column in enumerate(plot.references.values(), len(plot.guides)):
            yield path.format(GUIDES[index % 3], self._reference(column))
        for index, value in enumerate(plot.lines.values(), len(plot.guides) + len(plot.references)):
            if self.painter.flat:
                yield path.format(GUIDES[index % 3], f"M{self.width * self.values.at(value):.1f} 0V{self.height:.0f}")
            else:
                yield path.format(GUIDES[index % 3], f"M0 {self._y(value):.1f}H{self.width:.0f}")

    def _reference(self, column: str) -> str:
        """A line through the column's values at bare's points; of categories one across each."""
        plot, part = self.painter.plot, self.part
        if self.painter.flat:
            step, at = self.height / max(1, len(self.places)), self.values.at
            places = zip(part[plot.x].map(self.places.index), part[column].astype(float), strict=True)
            return "".join(f"M{self.width * at(x):.1f} {step * place:.1f}v{step:.1f}" for place, x in places)
        bare = part[(part["variant"] == "bare") & part[column].notna()].sort_values(plot.x)
        places = zip(bare[plot.x].astype(float), bare[column].astype(float), strict=True)
        return _line([(self.width * self.x.at(x), self._y(y)) for x, y in places])

    def _y(self, value: float) -> float:
        return self.height * (1 - self.values.at(value))

    def _curve(self, curve: _Curve, order: int) -> Iterator[Markup]:
        plot = self.painter.plot
        mine = self.part[self.part[plot.series] == curve.value]
        mine = mine.sort_values(plot.x) if not self.painter.flat else mine
        marks = [
            (index, *self._place(point, order)) for index, point in zip(mine.index, frames.rows(mine), strict=True)
        ]
        joined = plot.joined and not self.painter.flat
        line = _line([(x, y) for _, x, y, bar in marks if bar]) if joined else ""
        dash = Markup(' stroke-dasharray="{}"').format(curve.dash) if curve.dash else ""
        yield Markup('<g class="c k{}"{}>').format(curve.color, Markup("") if joined else Markup(' data-loose=""'))
        yield Markup('<path class="line"{} d="{}"/>').format(dash, line) if joined else Markup("")
        for index, x, y, bar in marks:
            point = mine.loc[index]
            shape = MARK.format(bar, self._beyond(float(point["value"])) or curve.marker) if bar else NO_VALUE
            kind = "hollow" if bar and plot.hollow(point.to_dict()) else "" if bar else "none"
            state = Markup(' class="{}"').format(kind) if kind else Markup("")
            yield POINT.format(self.painter.rows[index], x, y, state, self.painter.words[index], shape)
        yield Markup("</g>")

    def _beyond(self, value: float) -> str:
        """The arrow of a value that lies off the axis, at whose edge it is drawn; nothing for others."""
        plot = self.painter.plot
        low, high = ("<", ">") if self.painter.flat else ("v", "^")
        if plot.lowest is not None and value < plot.lowest:
            return _symbol(low)
        return _symbol(high) if plot.highest is not None and value > plot.highest else ""

    def _place(self, point: dict[str, Any], order: int) -> tuple[float, float, str]:
        """x, y, and the interval as a path; no path where the point has no value."""
        value = float(point["value"])
        known = math.isfinite(value)
        ends = [
            float(point[name]) if known and math.isfinite(float(point[name])) else value for name in ("low", "high")
        ]
        if self.painter.flat:
            step = self.height / max(1, len(self.places))
            y = self.places.index(point[self.painter.plot.x]) * step + step * (order + 0.7) / (len(self.present) + 0.4)
            x = self.width * self.values.at(value) if known else 4.0
            low, high = (self.width * self.values.at(end) - x for end in ends) if known else (0.0, 0.0)
            return x, y, f"M{low:.1f} 0H{high:.1f}" if known else ""
        x = self.width * self.x.at(float(point[self.painter.plot.x]))
        y = self._y(value) if known else self.height - 6.0 - 7.0 * order
        low, high = (self._y(end) - y for end in ends) if known else (0.0, 0.0)
        return x, y, f"M0 {low:.1f}V{high:.1f}" if known else ""


def _apart(ticks: list[float], scale: Scale, width: float) -> list[float]:
    """Those ticks whose words do not touch."""
    found: list[float] = []
    for tick in ticks:
        if not found or width * (scale.at(tick) - scale.at(found[-1])) > 38:
            found.append(tick)
    return found


def _line(places: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places) if places else ""


def symbols() -> Markup:
    """The markers and the hatching, once a page."""
    shapes = [Markup('<symbol id="m{}" overflow="visible"><path d="{}"/></symbol>').format(index, path)
              for index, path in enumerate(MARKERS.values())]  # fmt: skip
    cross = Markup('<symbol id="mx" overflow="visible"><path d="{}"/></symbol>').format(MARKERS["x"])
    line = Markup('<path class="grid" d="M0 8L8 0"/>')
    hatch = Markup('<pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse">{}</pattern>').format(line)
    return Markup('<svg width="0" height="0" aria-hidden="true" style="position:absolute">{}{}{}</svg>').format(
        Markup("").join(shapes), cross, hatch
    )


def colors(charts: Sequence[Chart]) -> list[tuple[str, str]]:
    """The colours in use, each with the one that stands for it on a dark page."""
    used = dict.fromkeys(entry.color for chart in charts for entry in chart.legend if entry.color)
    return [(color, _on_dark(color)) for color in used]


def _on_dark(color: str) -> str:
    """A colour that is too dark for a dark page, made lighter."""
    parts = [int(color[index : index + 2], 16) for index in (0, 2, 4)]
    bright = 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    mix = max(0.0, (150 - bright) / 190)
    return "".join(f"{round(part + (255 - part) * mix):02x}" for part in parts)
