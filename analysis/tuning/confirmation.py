# SPDX-License-Identifier: BSD-3-Clause
"""What a search found: a setting that is confirmed to be better than the default, or that nothing is.

Many settings were looked at, so the one that leads was perhaps lucky. It is measured afresh beside the default, at
points at which nothing was tuned; only those rounds decide. Where they leave it open, more are run: each look has its
share of the error (Bonferroni), and so have the intervals, which hold over all looks. Two factors, the engine and the
MPI's variables, are measured one by one beside both together, so that a gain has its cause.

A confirmation ends with the first launch of the winner or the default that fails. A winner that failed is not
confirmed; where the default failed, the rounds before that decide, since all of them have both.

A default that breaks a bound in the search is none to be better than: there a setting is confirmed by being shown to
keep that bound, where the default breaks it afresh. Where the default then keeps it, the gain decides as ever.

`front`: objective against its cost, what is bounded first, else inflation: which settings nothing else beats in both.

Both are held against the default in the rounds that have both, as those who decide do it: settings ran in different
rounds, and what a round has of its own is no setting's. What failed has no place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from analysis.metrics.formulas import METRICS
from analysis.statistics.ranks import Middle, middle, p_above, p_below
from analysis.tuning import elimination
from analysis.tuning.search_records import (
    BARE,
    DEFAULT,
    ENGINE_ALONE,
    MPI_ALONE,
    OLD,
    TUNED,
    Measured,
    by_ratio,
    costs,
    metric_name,
    of_overlap,
)
from analysis.words import interval_text, point_words


@dataclass(frozen=True)
class FrontPoint:
    """A setting: by how much it is better than the default, and its cost. `front`: nothing is better in both; `breaks`:
    a bound, so that it may not lead."""

    name: str
    gain: Middle
    cost: float
    breaks: bool = False
    front: bool = False


def front(found: Measured) -> list[FrontPoint]:
    """The default and every setting that ran and did not fail, by cost; nothing where the objective has none."""
    word = cost(found)
    known = [DEFAULT, *(name for name in found.asked.contenders if name not in found.failures)]
    rows = [row for row in (_front_point(name, word, found) for name in known if word) if row]
    points = [replace(row, front=not any(_beats(other, row) for other in rows)) for row in rows]
    return sorted(points, key=lambda point: point.cost)


def _front_point(name: str, word: str, found: Measured) -> FrontPoint | None:
    """None where no round has both it and the default."""
    mine, base = found.scores.get(name, {}), found.scores.get(DEFAULT, {})
    common = [round_ for round_ in mine if round_ in base]
    if not common:
        return None
    of_default = middle([one.bounds[word] for one in base.values()], elimination.INTERVAL).value
    costs_more = [mine[round_].bounds[word] - base[round_].bounds[word] for round_ in common]
    dearer = middle(costs_more, elimination.INTERVAL).value
    wanted = found.asked.bounds
    breaks = bool(elimination.broken(elimination.bounds_of(name, found.scores, wanted), wanted))
    return FrontPoint(name, elimination.standing(name, found).gain, of_default + dearer, breaks)


def _beats(one: FrontPoint, other: FrontPoint) -> bool:
    """At least as good in both, better in one."""
    better = one.gain.value > other.gain.value or one.cost < other.cost
    return better and one.gain.value >= other.gain.value and one.cost <= other.cost


def cost(found: Measured) -> str:
    """The metric that the objective is weighed against; empty if there is none."""
    return next(iter(costs(found.asked)), "")


def cost_title(found: Measured) -> str:
    """The same in words, for an axis."""
    return METRICS[metric_name(cost(found))].title


ERROR = 0.01  # the chance that a setting is confirmed which is no better than the default, over all looks
UNVERIFIED = "The program's results are NOT VERIFIED: no --check says where it prints them."
SIDES = (BARE, MPI_ALONE, OLD, ENGINE_ALONE, TUNED)


@dataclass(frozen=True)
class Cell:
    """One side of the confirmation: the objective as it is, and by how much it is better than the default."""

    side: str
    words: str
    value: float
    gain: Middle
    bounds: Mapping[str, Middle] = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """`confirmed`: `values` are what is written, else the default is. `winner`: the leader of the search."""

    confirmed: bool
    sentence: str
    winner: str
    values: Mapping[str, str]
    gain: Middle | None = None
    rounds: int = 0
    cells: list[Cell] = field(default_factory=list)


def of(found: Measured) -> Verdict:
    """The verdict of a search whose blocks are over; it says so where wrong results would not have been seen."""
    told = _judged(found)
    return told if found.asked.verified else replace(told, sentence=f"{told.sentence} {UNVERIFIED}")


def _judged(found: Measured) -> Verdict:
    state = elimination.state(found)
    leader = state.leader
    searched = f"{len(state.standings)} settings in {sum(block.rounds for block in found.asked.searched)} rounds"
    if leader == DEFAULT:
        return Verdict(False, _none_led(found, state, searched), leader, {})
    if not found.asked.confirmed:
        return Verdict(False, f"{leader} leads of {searched}; it was not confirmed.", leader, {})
    gains = elimination.differences(TUNED, OLD, found.scores)
    cells = [_cell(side, found, leader) for side in SIDES if found.scores.get(side)]
    gain = middle(gains, level(found))
    why = _why_not(gains, found)
    where = " at points that were not tuned" if found.asked.elsewhere else ""
    told = f"{gain_words(gain, found)} in {len(gains)} fresh rounds{where}" if gains else ""
    best = f"{leader}, the best of {searched},"
    if why:
        sentence = f"Nothing beats the default: {best} was measured afresh, and {why}{told and f' ({told})'}."
    elif words := broken_afresh(found):
        broken, kept = (_values_of(words, side, found) for side in (OLD, TUNED))
        sentence = f"The default breaks {broken}. {best} keeps {kept}: {told}{_lost(found)}."
    else:
        trade, each = _at_each_point(found)
        sentence = f"{best} {'is a trade' if trade else 'beats the default'}: {told}{each}{_lost(found)}."
    values = {} if why else found.asked.contenders[leader]
    return Verdict(not why, sentence, leader, values, gain, len(gains), cells)


def level(found: Measured) -> float:
    """Of one look at the confirmation: the error is shared by all of them."""
    return ERROR / found.asked.looks


def undecided(found: Measured) -> bool:
    """Whether the rounds so far speak for the winner, but do not show it, and more may be looked at."""
    told = of(found)
    looks = len(found.asked.confirmed)
    if (
        told.confirmed
        or told.gain is None
        or not told.rounds
        or TUNED in found.failures
        or not 0 < looks < found.asked.looks
    ):
        return False
    return (told.gain.value > 0 or bool(broken_afresh(found))) and not _broken_bound(found)


def _why_not(gains: list[float], found: Measured) -> str:
    """Why the winner is not confirmed; empty if it is."""
    if TUNED in found.failures:
        return f"a launch failed: {found.failures[TUNED].rstrip('.')}"
    if not gains:
        return f"no round has both it and the default{_lost(found)}"
    if broken_afresh(found):
        return _broken_bound(found) or _not_shown_to_keep(found)
    if float(p_above(gains, 0.0)) > level(found):
        return f"its gain is not shown at the level of {100 * ERROR:g} %{_lost(found)}"
    return _broken_bound(found) or _not_shown_to_keep(found)


def _at_each_point(found: Measured) -> tuple[bool, str]:
    """Whether the winner is shown to lose at a point, whatever it gains over all; and its gain at each of several."""
    mine, theirs = found.scores[TUNED], found.scores[OLD]
    common = [round_ for round_ in sorted(mine) if round_ in theirs]
    both = [(mine[round_].points, theirs[round_].points) for round_ in common]
    names = [name for name in both[0][0] if all(name in points for pair in both for points in pair)]
    gains = {name: [new[name] - old[name] for new, old in both] for name in names}
    if len(gains) < 2:
        return False, ""
    shown = level(found) / len(gains)
    loses = [name for name, values in gains.items() if float(p_below(values, 0.0)) <= shown]
    each = [
        f"{'loses ' if name in loses else ''}at {point_words(name)} {gain_words(middle(values, shown), found)}"
        for name, values in gains.items()
    ]
    return bool(loses), f"; {'; '.join(each)}"


def _lost(found: Measured) -> str:
    """Why rounds of the confirmation are none, though the winner ran; empty where they all are."""
    held_against = {OLD: "the default", **({BARE: "the reference"} if of_overlap(found.asked) else {})}
    lost = [f", a launch of {words} failed: {found.failures[side].rstrip('.')}"
            for side, words in held_against.items() if side in found.failures]  # fmt: skip
    return next(iter(lost), "")


def broken_afresh(found: Measured) -> list[str]:
    """The bounds that the default breaks in the search and in the fresh launches, too."""
    again = elimination.broken(elimination.bounds_of(OLD, found.scores, found.asked.bounds), found.asked.bounds)
    return [word for word in elimination.broken_by_default(found) if word in again]


def _not_shown_to_keep(found: Measured) -> str:
    """Which bound the winner is not shown to keep; empty where it is of all."""
    broken = broken_afresh(found)
    for word, most in found.asked.bounds.items():
        values = [one.bounds[word] for one in found.scores[TUNED].values()]
        if float(p_below(values, most)) > level(found):
            by_default = ", which the default breaks" if word in broken else ""
            return f"it is not shown to keep {word}<={most:g}{by_default}"
    return ""


def _values_of(words: list[str], side: str, found: Measured) -> str:
    """These bounds with what a side has there."""
    shown = elimination.bounds_of(side, found.scores, found.asked.bounds)
    return " and ".join(f"{word}<={found.asked.bounds[word]:g} ({shown[word].value:.3g})" for word in words)


def _none_led(found: Measured, state: elimination.State, searched: str) -> str:
    """The sentence of a search that the default leads at its end, with what the best of the others reached."""
    if words := elimination.broken_by_default(found):
        broken = _values_of(words, DEFAULT, found)
        return f"The default breaks {broken}, and of {searched} none is known to keep all bounds."
    sentence = f"Nothing beats the default: of {searched} none led."
    known = [one for one in state.standings.values() if one.rounds and one.name not in found.failures]
    allowed = [one for one in known if not elimination.broken(one.bounds, found.asked.bounds)]
    if not allowed:
        return sentence
    best = max(allowed, key=lambda one: one.gain.value)
    told = f"{gain_words(best.gain, found)} in {best.rounds} rounds"
    return f"{sentence} The best of the others is {best.name} ({settings_words(best.name, found)}): {told}."


def settings_words(name: str, found: Measured) -> str:
    """What a setting changes, in words."""
    return ", ".join(f"{key}={value}" for key, value in found.asked.contenders.get(name, {}).items()) or "none"


def _broken_bound(found: Measured) -> str:
    bounds, wanted = elimination.bounds_of(TUNED, found.scores, found.asked.bounds), found.asked.bounds
    for word in elimination.broken(bounds, wanted):
        return f"{word} is {bounds[word].value:.3g} there and may be {wanted[word]:g} at most"
    return ""


def _cell(side: str, found: Measured, winner: str) -> Cell:
    one = elimination.standing(side, found, against=OLD, level=level(found))
    shown = [value for round_, value in found.plain[side].items() if round_ in found.scores[side]]
    return Cell(side, _factors(side, found, winner), middle(shown, level(found)).value, one.gain, one.bounds)


def _factors(side: str, found: Measured, winner: str) -> str:
    """Which engine and which MPI a side of the confirmation has, in words."""
    of_engine = any(axis.name in found.asked.contenders[winner] for axis in found.asked.space if not axis.of_mpi)
    of_mpi = any(axis.name in found.asked.contenders[winner] for axis in found.asked.space if axis.of_mpi)
    tuned = "tuned" if of_engine and side in (TUNED, ENGINE_ALONE) else "default"
    engine = "bare" if side in (BARE, MPI_ALONE) else f"{found.asked.variant}, {tuned} settings"
    mpi = "tuned" if of_mpi and side in (TUNED, MPI_ALONE) else "default"
    return f"{engine}; {mpi} MPI"


def gain_words(gain: Middle, found: Measured) -> str:
    """A gain for people: a difference, or a factor where values are compared by ratio."""
    if by_ratio(found.asked.objective):
        return f"{found.asked.objective} better by a factor of {interval_text(*map(math.exp, gain))}"
    return f"{found.asked.objective} {gain.value:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})"
