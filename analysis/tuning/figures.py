# SPDX-License-Identifier: BSD-3-Clause
"""Figures of a search: who led when and who went out, objective against cost, and which values went with which gain."""

from __future__ import annotations

import math
from dataclasses import replace

import pandas as pd

from analysis.figures import toolkit
from analysis.figures.toolkit import Drawn, Plot, VariantStyle
from analysis.statistics.ranks import middle
from analysis.tuning import confirmation, elimination
from analysis.tuning.search_records import DEFAULT, UNSET, Measured, by_ratio

NAMED = 6  # settings that have a colour of their own; the others are grey
GREY = "#b5b5b5"
OTHERS = "others"


def draw(found: Measured) -> list[Drawn]:
    """All that there is to draw; what has no points is left out."""
    source = f"Data: session {found.session}."
    made = [_search(found, source), _front(found, source), _values(found, source)]
    return [figure for figure in made if figure is not None]


def _best(found: Measured) -> list[str]:
    """Every setting with its rounds, the best first."""
    standings = elimination.state(found).standings
    known = [one for one in standings.values() if one.rounds]
    return [one.name for one in sorted(known, key=lambda one: -one.gain.value)]


def _gain_label(found: Measured) -> str:
    what = "per cent better" if by_ratio(found.asked.objective) else "more"
    return f"{found.asked.objective}: {what} than the default"


def _shown(gain: float, found: Measured) -> float:
    return 100 * math.expm1(gain) if by_ratio(found.asked.objective) else gain


def _search(found: Measured, source: str) -> Drawn | None:
    """The gain of each setting as it was known after each of its rounds; hollow where it went out."""
    ordered = _best(found)
    if not ordered:
        return None
    standings = elimination.state(found).standings
    rows = []
    for name in ordered:
        scores, base = found.scores[name], found.scores.get(DEFAULT, {})
        rounds = [round_ for round_ in sorted(scores) if round_ in base]
        gains = [scores[round_].value - base[round_].value for round_ in rounds]
        known = [_shown(middle(gains[: count + 1], elimination.INTERVAL).value, found) for count in range(len(gains))]
        rows += [{"setting": name, "round": round_, "value": gain, "out": standings[name].out and round_ == rounds[-1]}
                 for round_, gain in zip(rounds, known, strict=True)]  # fmt: skip
    caption = (
        "The search: the middle (Hodges and Lehmann) of the differences to the default in the same rounds, as far as a "
        f"setting had run; a hollow mark is where it went out, the line at 0 the default. {source}"
    )
    plot = Plot(
        "round", "round", _gain_label(found), x_axis="number", series="setting", column="", order=tuple(ordered),
        look=_setting_look, hollow=lambda point: bool(point["out"]), lines={"the default": 0.0},
    )  # fmt: skip
    return Drawn("tuning_search", "Who led when", caption, pd.DataFrame(rows), plot)


def _setting_look(name: str, index: int) -> VariantStyle:
    look = toolkit.curve(index, name)
    return look if index < NAMED else replace(look, color=GREY, label="")


def _front(found: Measured, source: str) -> Drawn | None:
    """Objective over cost, those that nothing beats in both joined by a line."""
    points = confirmation.front(found)
    if not points:
        return None
    word, title = confirmation.cost(found), confirmation.cost_title(found)
    if word in found.asked.bounds:
        title += f" (at most {found.asked.bounds[word]:g})"
    crosses = " A hollow mark breaks a bound." if any(point.breaks for point in points) else ""
    caption = (
        f"{found.asked.objective} against {word}, both by the middle (Hodges and Lehmann) of the differences to the "
        f"default in the same rounds; named are the default and those that no other setting beats in both.{crosses} "
        f"{source}"
    )
    rows = [{"setting": p.name, "value": _shown(p.gain.value, found), word: p.cost, "front": p.front,
             "breaks": bool(p.breaks), "named": p.name if p.front or p.name == DEFAULT else OTHERS}
            for p in points]  # fmt: skip
    plot = Plot(
        word, title, _gain_label(found), x_axis="number", series="named", column="", joined=False,
        hollow=lambda point: point["breaks"], look=_front_look,
        order=tuple(dict.fromkeys(row["named"] for row in rows if row["named"] != OTHERS)),
    )  # fmt: skip
    return Drawn("tuning_pareto", "Objective against cost", caption, pd.DataFrame(rows), plot)


def _front_look(name: str, index: int) -> VariantStyle:
    look = toolkit.curve(index, name)
    return replace(look, color=GREY) if name == OTHERS else look


def _values(found: Measured, source: str) -> Drawn | None:
    """Of each value of each parameter the gains of the settings that have it."""
    ordered, space = _best(found), found.asked.space
    if not ordered or len(space) < 2:
        return None
    standings = elimination.state(found).standings
    rows = [
        {"setting": name, "value": _shown(standings[name].gain.value, found),
         "choice": f"{axis.name}={found.asked.contenders[name].get(axis.name, UNSET)}"}
        for axis in space for name in ordered
    ]  # fmt: skip
    caption = f"The gains of all settings that were tried, a mark each, by the values of their parameters. {source}"
    plot = Plot(
        "choice", "", _gain_label(found), x_axis="words", series="of", column="", place="setting",
        lines={"the default": 0.0}, look=lambda *_: toolkit.curve(0, ""), words=lambda value, _: str(value),
        order=tuple(f"{axis.name}={value}" for axis in space for value in axis.values),
    )  # fmt: skip
    points = pd.DataFrame(rows).assign(of="a setting")
    return Drawn("tuning_values", "Values and gains", caption, points, plot)
