# SPDX-License-Identifier: BSD-3-Clause
"""What a search found, as Markdown and as JSON: the verdict, the confirmation, every setting that was tried.

`of`: what shows that the values of a winner acted: the engine says in each record with which settings it ran, and of
the MPI's variables it was asked before the search (harness.job.read_back). And whether a value's own share of the gain
was measured: several that were found together may owe it to one of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from analysis.text_table import json_text, markdown
from analysis.tuning import confirmation as verdict
from analysis.tuning import elimination
from analysis.tuning.confirmation import ERROR, Cell, Verdict, cost, cost_title, gain_words, settings_words
from analysis.tuning.elimination import Standing, State
from analysis.tuning.proposals import propose
from analysis.tuning.search_records import DEFAULT, ENGINE_ALONE, MPI_ALONE, OLD, TUNED, Measured, Tried
from analysis.words import interval_text

NO_SHARE = "; its own share of the gain was not measured"


def of(found: Measured, values: Mapping[str, str], taken: Mapping[str, tuple[bool, str]]) -> dict[str, str]:
    """Setting -> what shows that it acted where it was measured afresh. `taken`: variable of the MPI -> whether it was
    taken, and what shows that."""
    shown = {name: taken[name][1] if name in taken else _reported(name, found) for name in values}
    return {name: f"{why}{'' if _alone(name, found, values) else NO_SHARE}" for name, why in shown.items()}


def _alone(name: str, found: Measured, values: Mapping[str, str]) -> bool:
    """Whether a value was measured afresh without any other of the winner."""
    of_mpi = {axis.name for axis in found.asked.space if axis.of_mpi}
    beside = [other for other in values if (other in of_mpi) == (name in of_mpi)]
    side = MPI_ALONE if name in of_mpi else ENGINE_ALONE
    return len(values) == 1 or (len(beside) == 1 and bool(found.scores.get(side)))


def _reported(name: str, found: Measured) -> str:
    """What the engine says of its setting in the winner's fresh launches."""
    said = [_word(report[name]) for report in found.engine.get(TUNED, []) if name in report]
    if not said:
        return "no report of the engine names it"
    return f"the engine's reports, {len(said)} processes of fresh launches: {' and '.join(sorted(set(said)))}"


def _word(value: object) -> str:
    """As it is written in a file of settings."""
    return str(value).lower() if isinstance(value, bool) else str(value)


AFRESH = (
    f"Each side of these intervals is wrong with a probability of {100 * ERROR:g} % at most, however often the "
    "confirmation was looked at."
)
SELECTED = (
    "These intervals (95 %) are of the rounds by which settings were selected: the best looks better here than it is. "
    "What a gain is the fresh launches say."
)


def document(found: Measured, verdict: Verdict, taken: Mapping[str, tuple[bool, str]]) -> str:
    """`taken`: variable of the MPI -> whether it was taken, and what shows that."""
    state = elimination.state(found)
    lines = ["# What was tuned", "", verdict.sentence, ""]
    lines += _values(found, verdict, taken)
    if verdict.cells:
        lines += ["## Measured afresh", "", *_cells(found, verdict), "", AFRESH, ""]
    if cost(found):
        lines += [f"## Objective against {cost_title(found)}", "", *markdown(*front(found)), ""]
    lines += ["## Every setting that was tried", "", *_tried(found, state.standings), "", SELECTED, ""]
    if taken:
        lines += ["## Did the MPI take its variables?", "", *_taken(taken), ""]
    return "\n".join([*lines, *(f"- {note}" for note in found.notes), f"Session {found.session}.", ""])


def _values(found: Measured, verdict: Verdict, taken: Mapping[str, tuple[bool, str]]) -> list[str]:
    if not verdict.confirmed:
        return ["The default is what is written.", ""]
    of_mpi = {axis.name for axis in found.asked.space if axis.of_mpi}
    shown = of(found, verdict.values, taken)
    rows = [[name, value, "MPI" if name in of_mpi else "engine", shown[name]] for name, value in verdict.values.items()]
    return [*markdown(["setting", "value", "of", "seen to act by"], rows), ""]


def _cells(found: Measured, verdict: Verdict) -> list[str]:
    words = list(found.asked.bounds)
    rows = [
        [cell.words, f"{cell.value:.4g}", _against(cell, found), *(interval_text(*cell.bounds[word]) for word in words)]
        for cell in verdict.cells
    ]
    return markdown(["engine and MPI", found.asked.objective, "against the default", *words], rows)


def _against(cell: Cell, found: Measured) -> str:
    if cell.side == OLD:
        return "what the others are held against"
    return "–" if math.isnan(cell.gain.value) else gain_words(cell.gain, found)


def front(found: Measured) -> tuple[list[str], list[list[str]]]:
    """The settings on the Pareto front, as the columns and the rows of a table; no rows where there is no cost."""
    rows = [
        [
            place.name,
            settings_words(place.name, found),
            "–" if place.name == DEFAULT else gain_words(place.gain, found),
            f"{place.cost:.4g}{', which breaks a bound' * place.breaks}",
        ]
        for place in verdict.front(found)
        if place.front
    ]
    return ["on the Pareto front", "settings", "against the default", cost(found)], rows


def _tried(found: Measured, standings: Mapping[str, Standing]) -> list[str]:
    words = list(found.asked.bounds)
    rows = [
        [
            one.name,
            settings_words(one.name, found),
            one.rounds,
            gain_words(one.gain, found) if one.rounds else "–",
            *(interval_text(*one.bounds[word]) if word in one.bounds else "–" for word in words),
            one.out or ("went on to the end" if one.rounds else "none of its rounds counts"),
        ]
        for one in standings.values()
    ]
    return markdown(["setting", "changed", "rounds", "against the default", *words, "what became of it"], rows)


def _taken(taken: Mapping[str, tuple[bool, str]]) -> list[str]:
    rows = [[name, "yes" if yes else "not shown to have taken effect", why] for name, (yes, why) in taken.items()]
    return markdown(["variable", "taken", "because"], rows)


def as_json(found: Measured, verdict: Verdict, taken: Mapping[str, tuple[bool, str]]) -> str:
    """All of it for programs; what is not known is null."""
    standings = elimination.state(found).standings
    content = {
        "session": found.session,
        "verdict": asdict(verdict),
        "settings": {name: {"values": found.asked.contenders[name], **asdict(one)} for name, one in standings.items()},
        "taken": {name: {"taken": yes, "because": why} for name, (yes, why) in taken.items()},
    }
    return json_text(content) + "\n"


@dataclass(frozen=True)
class Step:
    """`alive` go on, beside `new` settings. It is over where nothing is new and nobody is left who could still come
    to lead; `state.leader` is then its winner."""

    state: State
    alive: Sequence[str]
    new: Sequence[dict[str, str]]

    @property
    def over(self) -> bool:
        return not self.new and all(name == self.state.leader for name in self.alive)


def next_(found: Measured, seed: int) -> Step:
    """What the next block would have; new settings take the places of those that are out."""
    state = elimination.state(found)
    free = max(0, found.asked.at_once - len(state.alive))
    source = propose(found.asked.space, tried(found, state), found.asked.method, seed)
    going_on = [found.asked.contenders[name] for name in state.alive]
    new = (values for values in source if values not in going_on)
    return Step(state, state.alive, list(itertools.islice(new, free)))


def tried(found: Measured, state: State) -> list[Tried]:
    """Every setting that ran, as those who propose see it: the default is one of them, and perhaps the best. One of
    which no round counts is not among them: nothing is known of it."""
    known = {name: one for name, one in state.standings.items() if one.rounds or one.out}
    ran = [(found.asked.contenders[name], one) for name, one in known.items()]
    default: list[tuple[Mapping[str, str], Standing]] = [({}, elimination.standing(DEFAULT, found))] if ran else []
    return [_tried_of(values, one, found) for values, one in (*default, *ran)]


def _tried_of(values: Mapping[str, str], one: Standing, found: Measured) -> Tried:
    return Tried(values, one.gain.value, _beyond(one, found)) if one.rounds else Tried(values, None)


def _beyond(one: Standing, found: Measured) -> float:
    """By how much it breaks the bound that it breaks most; below zero where it keeps all."""
    over = [one.bounds[word].value - most for word, most in found.asked.bounds.items() if word in one.bounds]
    return max(over, default=-1.0)
