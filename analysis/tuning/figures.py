# SPDX-License-Identifier: BSD-3-Clause
"""Figures of a race: who led when and who went out, objective against cost, and which values went with which gain."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from analysis.figures import style, toolkit
from analysis.figures.overlap_map import COLORS
from analysis.figures.plot import Plot
from analysis.figures.toolkit import Drawn
from analysis.statistics.signed_rank import middle
from analysis.tuning import decide, pareto
from analysis.tuning.asked import DEFAULT, UNSET
from analysis.tuning.measured import Measured, by_ratio

NAMED = 6  # settings that have a colour of their own; the others are grey
GREY = "#b5b5b5"


def draw(found: Measured) -> list[Drawn]:
    """All that there is to draw; what has no points is left out."""
    source = f"Data: session {found.session}."
    made = [_race(found, source), _front(found, source), _coordinates(found, source)]
    return [figure for figure in made if figure is not None]


def _best(found: Measured) -> list[str]:
    """Every setting with its rounds, the best first."""
    standings = decide.state(found).standings
    known = [one for one in standings.values() if one.rounds]
    return [one.name for one in sorted(known, key=lambda one: -one.gain.value)]


def _gain_label(found: Measured) -> str:
    what = "per cent better" if by_ratio(found.asked.objective) else "more"
    return f"{found.asked.objective}: {what} than the default"


def _shown(gain: float, found: Measured) -> float:
    return 100 * math.expm1(gain) if by_ratio(found.asked.objective) else gain


@toolkit.styled
def _race(found: Measured, source: str) -> Drawn | None:
    """The gain of each setting as it was known after each of its rounds; a cross where it went out."""
    ordered = _best(found)
    if not ordered:
        return None
    standings = decide.state(found).standings
    figure = Figure(figsize=(style.PAGE_WIDTH, 3.4), layout="constrained")
    axes = figure.subplots()
    rows = []
    for index, name in reversed(list(enumerate(ordered))):
        scores, base = found.scores[name], found.scores.get(DEFAULT, {})
        turns = [turn for turn in sorted(scores) if turn in base]
        gains = [scores[turn].value - base[turn].value for turn in turns]
        known = [_shown(middle(gains[: count + 1], decide.INTERVAL).value, found) for count in range(len(gains))]
        look = style.curve(index, name)
        color = look.color if index < NAMED else GREY
        axes.plot(turns, known, color=color, linewidth=1.3, label=name if index < NAMED else None)
        if standings[name].out:
            axes.plot(turns[-1:], known[-1:], marker="x", linestyle="none", color=color)
        rows += [{"setting": name, "round": turn, "value": gain} for turn, gain in zip(turns, known, strict=True)]
    axes.axhline(0, **style.IDEAL)
    axes.set_xlabel("round")
    axes.set_ylabel(_gain_label(found))
    figure.legend(loc="outside upper left", ncols=NAMED)
    caption = (
        "The race: the middle (Hodges and Lehmann) of the differences to the default in the same rounds, as far as a "
        f"setting had run; a cross is where it went out, the line at 0 the default. {source}"
    )
    toolkit.footer(figure, caption)
    plot = Plot("round", "round", _gain_label(found), x_axis="number", series="setting", column="")
    return Drawn("tuning_race", "Who led when", caption, figure, pd.DataFrame(rows), plot)


@toolkit.styled
def _front(found: Measured, source: str) -> Drawn | None:
    """Objective over cost, those that nothing beats in both joined by a line."""
    places = pareto.front(found)
    if not places:
        return None
    figure = Figure(figsize=(style.PAGE_WIDTH, 3.4), layout="constrained")
    axes = figure.subplots()
    heights = {place.name: _shown(place.gain.value, found) for place in places}
    best = [place for place in places if place.front]
    axes.plot([p.cost for p in best], [heights[p.name] for p in best], color=style.curve(0, "").color)
    for place in places:
        color = style.curve(0, "").color if place.front else GREY
        marker = "x" if place.breaks else "o"
        axes.plot([place.cost], [heights[place.name]], marker=marker, linestyle="none", color=color)
    for place in {place.name: place for place in (*best, *(p for p in places if p.name == DEFAULT))}.values():
        axes.annotate(
            place.name, (place.cost, heights[place.name]), fontsize=6, xytext=(3, 3), textcoords="offset points"
        )
    word, title = pareto.cost(found), pareto.cost_title(found)
    if word in found.asked.bounds:
        axes.axvline(found.asked.bounds[word], **style.SERIAL)
        title += f" (at most {found.asked.bounds[word]:g})"
    axes.set_xlabel(title)
    axes.set_ylabel(_gain_label(found))
    crosses = " A cross breaks a bound." if any(place.breaks for place in places) else ""
    caption = (
        f"{found.asked.objective} against {word}, both by the middle (Hodges and Lehmann) of the differences to the "
        f"default in the same rounds; the line joins those that no other setting beats in both.{crosses} {source}"
    )
    toolkit.footer(figure, caption)
    rows = [{"setting": p.name, "value": heights[p.name], word: p.cost, "front": p.front} for p in places]
    frame = pd.DataFrame(rows)
    plot = Plot(word, word, _gain_label(found), x_axis="number", series="front", column="", joined=False)
    return Drawn("tuning_pareto", "Objective against cost", caption, figure, frame, plot)


@toolkit.styled
def _coordinates(found: Measured, source: str) -> Drawn | None:
    """Parallel coordinates: an axis a parameter, a line a setting, coloured by its gain."""
    ordered, space = _best(found), found.asked.space
    if not ordered or len(space) < 2:
        return None
    standings = decide.state(found).standings
    gains = np.array([_shown(standings[name].gain.value, found) for name in ordered])
    figure = Figure(figsize=(style.PAGE_WIDTH, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.set_facecolor("#e8e8e8")  # a gain of nothing is white
    widest = float(np.abs(gains).max()) or 1.0
    norm = Normalize(-widest, widest)
    rows = []
    for name, gain in list(zip(ordered, gains, strict=True))[::-1]:
        values = [found.asked.contenders[name].get(axis.name, UNSET) for axis in space]
        heights = [
            axis.values.index(value) / max(1, len(axis.values) - 1) for axis, value in zip(space, values, strict=True)
        ]
        axes.plot(range(len(space)), heights, color=COLORS(norm(gain)), linewidth=1.2)
        rows.append({"setting": name, "value": gain, **dict(zip((a.name for a in space), values, strict=True))})
    for index, axis in enumerate(space):
        for place, value in enumerate(axis.values):
            axes.annotate(value, (index, place / max(1, len(axis.values) - 1)), fontsize=4, xytext=(2, 1),
                          textcoords="offset points")  # fmt: skip
    axes.set_xticks(range(len(space)), [axis.name for axis in space], rotation=30, ha="right", fontsize=5)
    axes.set_yticks([])
    bar = figure.colorbar(ScalarMappable(norm, COLORS), ax=axes, shrink=0.7)
    bar.set_label(_gain_label(found), fontsize=6)
    caption = f"Every setting that was tried, a line each, over the values of its parameters. {source}"
    toolkit.footer(figure, caption)
    plot = Plot("setting", "", _gain_label(found), x_axis="words", series="setting", column="")
    return Drawn("tuning_coordinates", "Values and gains", caption, figure, pd.DataFrame(rows), plot)
