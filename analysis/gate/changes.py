# SPDX-License-Identifier: BSD-3-Clause
"""Where a series of gates changed: a loss that creeps in below every single gate's margin is found here.

The series is that of the candidate's ratios of one point in one comparison on one system, which the machine's own
changes do not move: candidate and baseline ran by turns, so on which of its nodes does not matter either. ruptures
finds where the ranks of a series split best. That the split is more than chance says a permutation of the series, which
looks for its best split as well.

What is promised: in a history in which nothing changed, any change is named with a chance of FALSE_ALARMS at most, by
Holm's correction over the first split of every series. Only where that is found are both parts of the series looked at
again, and theirs. Each part has half the error of what it is a part of, so all parts in which nothing changed have
FALSE_ALARMS together at most: for this series, not for all series that changed, and as far as the splits that are found
are where the series changed.

As files: a figure a series, with where it changed, and history.json with the same.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from analysis.figures import toolkit
from analysis.figures.render import save
from analysis.figures.toolkit import Drawn, Plot
from analysis.gate.store import Entry
from analysis.junit import writable
from analysis.statistics.interval import holm

Array = npt.NDArray[np.float64]
SHORTEST = 3  # gates on either side of a change
LEAST = 8  # gates of a series: any order of fewer is more likely than FALSE_ALARMS
PERMUTATIONS = 999  # at least
BELOW = 10  # by which factor the smallest p-value must be below what the correction asks for
EXCEEDED = 50  # permutations that split as well as the series: their share is known well enough then
BATCH = 4096  # permutations at once
FALSE_ALARMS = 0.05  # the chance of any change in a history in which nothing did


class Key(NamedTuple):
    """What the gates of a series have in common. `place`: see Entry.place; `comparison`: see measured.Measurement."""

    place: str
    comparison: str
    point: str
    network: str = ""

    def __str__(self) -> str:
        network = f", {textwrap.shorten(self.network, 80, placeholder=' ...')}" if self.network else ""
        return f"{self.point} on {self.place}{network}, {self.comparison}"


@dataclass(frozen=True)
class Change:
    """From `entry` on, the ratios of `key` are `ratio` times what they were. `adjusted`: its p-value, corrected."""

    key: Key
    entry: Entry
    ratio: float
    adjusted: float


def series(entries: Sequence[Entry]) -> dict[Key, list[tuple[Entry, float]]]:
    """The gates and ratios of each series, by time."""
    found: dict[Key, list[tuple[Entry, float]]] = {}
    for entry in entries:
        compared = entry.comparison or f"against {entry.base}"  # an earlier version kept no more of it
        for point, ratio in entry.ratios.items():
            found.setdefault(Key(entry.place, compared, point, entry.network), []).append((entry, ratio))
    return found


class _Split(NamedTuple):
    """Of the part of a series from `start` to `end`."""

    start: int
    place: int
    end: int
    p: float


def changes(entries: Sequence[Entry]) -> list[Change]:
    """Every change that is more than chance, by time."""
    every = {key: values for key, values in series(entries).items() if len(values) >= LEAST}
    logs = {key: np.log([ratio for _, ratio in values]) for key, values in every.items()}
    firsts = [_split(values, 0, len(values), len(logs)) for values in logs.values()]
    found = []
    for (key, values), first, adjusted in zip(logs.items(), firsts, holm([one.p for one in firsts]), strict=True):
        for split, p in _found(values, first, adjusted):
            moved = np.median(values[split.place : split.end]) - np.median(values[split.start : split.place])
            found.append(Change(key, every[key][split.place][0], float(np.exp(moved)), p))
    return sorted(found, key=lambda change: change.entry.time)


def _found(values: Array, split: _Split, adjusted: float, parts: int = 1) -> Iterator[tuple[_Split, float]]:
    """This split and those within its parts, with their corrected p-values. `parts`: of which it is one at most."""
    if adjusted >= FALSE_ALARMS:
        return
    yield split, adjusted
    for start, end in ((split.start, split.place), (split.place, split.end)):
        if end - start >= LEAST:
            part = _split(values, start, end, 2 * parts)
            yield from _found(values, part, max(adjusted, 2 * parts * part.p), 2 * parts)


def _split(values: Array, start: int, end: int, tests: int) -> _Split:
    """The best split of this part, as one of so many that are tested. By ranks: one spike is no step."""
    ranks = np.asarray(stats.rankdata(values[start:end]), dtype=np.float64)
    place = _search().fit(ranks).predict(n_bkps=1)[0]
    return _Split(start, start + place, end, _p(ranks, max(PERMUTATIONS, math.ceil(BELOW * tests / FALSE_ALARMS))))


def _p(ranks: Array, most: int) -> float:
    """The share of permutations that split as well, of `most` or until EXCEEDED have (Besag and Clifford, 1991)."""
    rng, gain = np.random.default_rng(len(ranks)), _gain(ranks[None])[0]
    exceeded = drawn = 0
    size = PERMUTATIONS
    while drawn < most:
        size = min(size, most - drawn)
        above = _gain(rng.permuted(np.tile(ranks, (size, 1)), axis=1)) >= gain - 1e-9
        if exceeded + above.sum() >= EXCEEDED:
            return EXCEEDED / (drawn + 1 + int(np.flatnonzero(above)[EXCEEDED - exceeded - 1]))
        exceeded, drawn, size = exceeded + int(above.sum()), drawn + size, BATCH
    return (1 + exceeded) / (1 + most)


def _gain(ranks: Array) -> Array:
    """By how much the best split of each row lessens its squares: what ruptures finds, of many rows at once."""
    count = ranks.shape[-1]
    places = np.arange(SHORTEST, count - SHORTEST + 1)
    before = np.cumsum(ranks - ranks.mean(axis=-1, keepdims=True), axis=-1)[:, places - 1]
    return np.asarray((before**2 * (count / (places * (count - places)))).max(axis=-1), dtype=np.float64)


@functools.cache
def _search() -> Any:
    import ruptures  # noqa: PLC0415 - half a second of imports

    return ruptures.Binseg(model="l2", min_size=SHORTEST, jump=1)


FILE = "history.json"
LOOK = toolkit.curve(0, "a gate, with the interval of its ratio")
LABEL = "candidate / baseline"


@dataclass(frozen=True)
class Told:
    """A series: its gates as rows, by time, and the changes in it. `places`: of the gates from which on the ratios are
    others; two gates of one second may have sessions of one name."""

    key: Key
    rows: pd.DataFrame
    changes: list[Change]
    places: list[int]

    @property
    def name(self) -> str:
        """Of its files: the point's words, and what tells it from the same point elsewhere."""
        return f"{toolkit.slug(self.key.point)[:100]}-{hashlib.sha256(str(self.key).encode()).hexdigest()[:6]}"


def write(entries: Sequence[Entry], found: Sequence[Change], folder: Path) -> list[Path]:
    """A figure a series, as PNG, SVG, PDF and CSV, and history.json; gives the figures. Raises OSError."""
    every = [_told(key, gates, [one for one in found if one.key == key]) for key, gates in series(entries).items()]
    written = [save(draw(one), folder)["png"] for one in every]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(json.dumps([_content(one) for one in every], indent=1) + "\n")
    return written


def _told(key: Key, gates: Sequence[tuple[Entry, float]], changes: list[Change]) -> Told:
    entries = [entry for entry, _ in gates]
    return Told(key, _rows(key.point, gates), changes, [entries.index(change.entry) for change in changes])


def _rows(point: str, gates: Sequence[tuple[Entry, float]]) -> pd.DataFrame:
    """A row a gate. Earlier versions kept no interval, nor does a gate of too few rounds have one."""
    rows = []
    for entry, ratio in gates:
        low, high = entry.intervals.get(point, (np.nan, np.nan))
        kept = {name: getattr(entry, name) for name in ("session", "time", "new", "base", "commit", "verdict")}
        rows.append(kept | {"value": ratio, "low": low, "high": high})
    return pd.DataFrame(rows)


def _content(one: Told) -> dict[str, Any]:
    rows = json.loads(one.rows.to_json(orient="records", double_precision=15))  # which has null for what is not known
    changes = [{"session": it.entry.session, "ratio": it.ratio, "adjusted_p": it.adjusted} for it in one.changes]
    return {**one.key._asdict(), "figure": one.name, "gates": rows, "changes": changes}


def draw(one: Told) -> Drawn:
    """Ratios by time, a step a gate, and a line where they changed."""
    point = writable(one.key.point)
    told = "; ".join(f"{100 * (it.ratio - 1):+.1f} % since {it.entry.session}" for it in one.changes)
    caption = (
        f"{writable(str(one.key))}. {len(one.rows)} gates by time; above 1 the candidate is slower. Changes: "
        f"{told or 'none'}."
    )
    days = [str(time)[:10] for time in one.rows["time"]]
    plot = Plot(
        "gate", "", LABEL, x_axis="number", series="point", column="", joined=False, lines={"equal": 1.0},
        look=lambda *_: LOOK, upright={"changed": [place - 0.5 for place in one.places]} if one.changes else {},
        say_x=lambda place: days[round(place)] if 0 <= round(place) < len(days) else "",
    )  # fmt: skip
    points = one.rows.assign(gate=range(len(one.rows)), point=point)
    return Drawn(one.name, point, caption, points, plot, found=told)
