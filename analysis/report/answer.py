# SPDX-License-Identifier: BSD-3-Clause
"""The answer in time, first of all: how long exchange and computation take with the engine and without, at every size.

Of the points where computation and communication are meant to take equally long. A change is only called one where its
whole interval lies on one side of none; it is not certain with fewer than six launches, on a disturbed machine, or
where launches failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from analysis import own_settings
from analysis.evidence import Evidence
from analysis.metrics.evaluate import REFERENCE
from analysis.metrics.times import PARTS
from analysis.records import frames
from analysis.records.frames import took
from analysis.statistics.interval import Interval, simultaneous
from analysis.studies import program
from analysis.words import MPI_ORDER, bytes_text, change_text, in_order, mpi_title, seconds_text

OWN_THREAD = "mpi-async"
WHO = {REFERENCE: "the MPI alone", OWN_THREAD: "its own thread"}
ENGINE_ORDER = ["adaptive", "offload", "mwait", "idle", "timer", "thread", "explicit"]
MOST_SIZES = 8  # that are told of: the longest messages
HIDES_LITTLE = 0.3  # overlap efficiency below which an MPI does not move a message by itself


def time_bar(fact: dict[str, Any], longest_s: float) -> Markup:
    """A row's whole time as a bar of its parts, where these were recorded; `longest_s` is as wide as it may be."""
    found = {name: float(fact.get(f"part_{name}_s", np.nan)) for name in PARTS}
    found = found if np.isfinite(list(found.values())).all() else {"whole": float(fact["total_s"])}
    scale = 100 / max(longest_s, sum(found.values()))
    made = (Markup('<i class="{}" style="width:{:.1f}%"></i>').format(name, scale * x) for name, x in found.items())
    words = ", ".join(f"{name} {seconds_text(x)}" for name, x in found.items())
    return Markup('<span class="of" role="img" title="{}">{}</span>').format(words, Markup("").join(made))


@dataclass(frozen=True)
class Bar:
    """The whole time of a variant, seconds; `parts` of it as the page draws them; `told`: of a time in another unit."""

    variant: str
    total_s: float
    parts: Markup
    told: str = ""

    @property
    def words(self) -> str:
        return self.told or seconds_text(self.total_s)


@dataclass(frozen=True)
class Size:
    """A message's length in words, what the engine changes in the time, and the time with each variant."""

    size: str
    change: str
    bars: list[Bar]

    @property
    def times(self) -> str:
        """Bare's and the engine's."""
        return f"{self.bars[0].words} → {self.bars[-1].words}"


@dataclass(frozen=True)
class Answer:
    """Of one MPI (on one system, in one session)."""

    title: str
    engine: str
    sizes: list[Size]
    pays: str = ""  # from which size on; empty of one size alone
    first: str = ""  # a setting of the MPI's own to try before the engine

    @property
    def sentence(self) -> str:
        """For a terminal: "MPICH, adaptive: 4 MB 43 % shorter (41 to 45 %), 67.1 ms → 38.2 ms; 8 MB ..."."""
        return f"{self.title}, {self.engine}: " + "; ".join(
            [*(f"{x.size} {x.change}, {x.times}" for x in self.sizes), *filter(None, (self.pays, self.first))]
        )


def heading(found: list[Answer]) -> str:
    """What the times are of."""
    variants = in_order((bar.variant for one in found for size in one.sizes for bar in size.bars), WHO)
    whose = ", ".join(f"{WHO.get(variant, 'the engine')} ({variant})" for variant in variants)
    return f"Time of exchange and computation of equal length, both together: {whose}."


@dataclass(frozen=True)
class Setting:
    """One MPI on one system in one session, at one pattern: its rows, what it is called, and how it is known."""

    mpi: str
    title: str
    pattern: str
    how: str  # measured or predicted
    rows: pd.DataFrame


def settings(equal: pd.DataFrame, simulated: Callable[[str], bool]) -> Iterator[Setting]:
    """Of the rows of at_equal(): with both sides computing, where that was measured."""
    several = [name for name in ("session", "system") if equal[name].nunique() > 1]
    for mpi in in_order(equal["mpi"], MPI_ORDER):
        for (session, system), rows in frames.groups(equal[equal["mpi"] == mpi], ["session", "system"]):
            place = {"session": session, "system": system}
            title = mpi_title(mpi) + (f" ({', '.join(str(place[name]) for name in several)})" if several else "")
            pattern = "both" if (rows["pattern"] == "both").any() else str(rows["pattern"].iloc[0])
            how = "predicted" if simulated(str(session)) else "measured"
            yield Setting(mpi, title, pattern, how, rows[rows["pattern"] == pattern])


def of_programs(evidence: Evidence) -> Iterator[Answer]:
    """Of programs of one's own that were compared: each variant beside bare."""
    for row, found in program.told(evidence):
        times = {one.variant: one.time for one in found if one.time is not None}
        if row.bare is None or not times:
            continue
        times = {REFERENCE: row.bare.value} | times
        bars = {
            name: Bar(name, time, time_bar({"total_s": time}, max(times.values())), program.time_text(row, time))
            for name, time in times.items()
        }
        sizes = [
            Size(one.variant, program.ratio_text(one.cell.ratio), [bars[REFERENCE], bars[one.variant]])
            for one in found
            if one.variant in bars and one.cell.ratio
        ]
        yield Answer(f"{program.name_of(evidence.records, row)} on {mpi_title(row.mpi)}", "", sizes)


def answers(found: Iterable[Setting]) -> list[Answer]:
    """Without those in which no variant of the engine was measured beside bare."""
    return [answer for setting in found for answer in _of(setting)]


def _of(setting: Setting) -> Iterator[Answer]:
    if not {"total_s", "change_value"} <= set(setting.rows):
        return  # nothing has a time, or nothing but bare
    rows = setting.rows[(setting.rows["metric"] == "overlap_efficiency") & setting.rows["total_s"].notna()]
    engine = next((name for name in ENGINE_ORDER if (rows["variant"] == name).any()), None)
    sizes, changes, not_hidden = [], [], []
    for (size,), part in frames.groups(rows, ["size_bytes"]):
        facts = {str(row["variant"]): row for row in reversed(frames.rows(part))}  # of several points the first
        if engine and REFERENCE in facts and engine in facts:
            times = {name: float(facts[name]["total_s"]) for name in (REFERENCE, OWN_THREAD, engine) if name in facts}
            changes.append((float(size), _interval(facts[engine], facts[REFERENCE])))
            not_hidden += [int(size)] if facts[REFERENCE]["value"] < HIDES_LITTLE else []
            longest = max(times.values())
            bars = [Bar(name, total, time_bar(facts[name], longest)) for name, total in times.items()]
            sizes.append(Size(bytes_text(size), _change(facts[engine], facts[REFERENCE]), bars))
    if engine and sizes:
        title = setting.title if setting.how == "measured" else f"{setting.title}, {setting.how}"
        first = own_settings.for_sizes(setting.mpi, not_hidden)
        yield Answer(title, engine, sizes[-MOST_SIZES:], _pays(changes), first)


def _interval(fact: dict[str, Any], bare: dict[str, Any]) -> Interval:
    """Of the time over bare's; not defensible where it is not certain."""
    sure = bool(fact["change_defensible"]) and not any(
        took(one["disturbance"]) or one["status"] != "ok" for one in (fact, bare)
    )
    value, low, high = (float(fact[f"change_{name}"]) for name in ("value", "low", "high"))
    return Interval(value, low, high, "", sure, float(fact["change_freedom"]))


def _change(fact: dict[str, Any], bare: dict[str, Any]) -> str:
    found = _interval(fact, bare)
    if not np.isfinite(found.low + found.high):
        return "not known whether it changes"
    return change_text(found.value, found.low, found.high, "" if found.defensible else ", not certain")


def _pays(changes: list[tuple[float, Interval]]) -> str:
    """From which size on the engine shortens the time: for certain, and perhaps; over all sizes at the same time."""
    if len(changes) < 2:
        return ""
    held = [(size, simultaneous(found, len(changes))) for size, found in sorted(changes, key=lambda one: one[0])]
    certain = _from([size for size, found in held if not (found.defensible and found.high < 1)], held)
    longest = held[-1][1]
    if certain is None:
        refuted = longest.defensible and longest.low >= 1
        return "does not pay at the longest" if refuted else "not shown to pay at the longest"
    perhaps = _from([size for size, found in held if found.value >= 1], held)  # what is longer by itself is no gain
    earlier = f", perhaps from {bytes_text(perhaps)} on" if perhaps is not None and perhaps < certain else ""
    return f"pays from {bytes_text(certain)} on for certain{earlier}"


def _from(not_yet: list[float], held: list[tuple[float, Interval]]) -> float | None:
    """The first size beyond all of those."""
    return next((size for size, _ in held if size > max(not_yet, default=-1.0)), None)
