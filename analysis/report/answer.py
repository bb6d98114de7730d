# SPDX-License-Identifier: BSD-3-Clause
"""The answer in time, first of all: how long exchange and computation take with the engine and without, at every size.

Of the points where computation and communication are meant to take equally long. A change is only called one where its
whole interval lies on one side of none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.evaluate import REFERENCE, at_equal
from analysis.records import frames
from analysis.words import MPI_ORDER, bytes_text, change_text, in_order, mpi_title, seconds_text

OWN_THREAD = "mpi-async"
WHO = {REFERENCE: "the MPI alone", OWN_THREAD: "its own thread"}
ENGINE_ORDER = ["adaptive", "offload", "mwait", "idle", "timer", "thread", "explicit"]
MOST_SIZES = 8  # that are told of: the longest messages


@dataclass(frozen=True)
class Bar:
    """The whole time of a variant, seconds; `percent` of the longest of its size."""

    variant: str
    total_s: float
    percent: float

    @property
    def words(self) -> str:
        return seconds_text(self.total_s)


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

    @property
    def sentence(self) -> str:
        """For a terminal: "MPICH, adaptive: 4 MB 43 % shorter (41 to 45 %), 67.1 ms → 38.2 ms; 8 MB ..."."""
        return f"{self.title}, {self.engine}: " + "; ".join(f"{x.size} {x.change}, {x.times}" for x in self.sizes)


def heading(found: list[Answer]) -> str:
    """What the times are of."""
    variants = in_order((bar.variant for one in found for size in one.sizes for bar in size.bars), WHO)
    whose = ", ".join(f"{WHO.get(variant, 'the engine')} ({variant})" for variant in variants)
    return f"Time of exchange and computation of equal length, both together: {whose}."


def answers(frame: pd.DataFrame) -> list[Answer]:
    """From the frame of evaluate(); empty where that study, or the engine in it, was not measured."""
    equal = at_equal(frame) if len(frame) else frame
    if not len(equal) or "change_value" not in equal:
        return []
    equal = equal[(equal["metric"] == "overlap_efficiency") & equal["total_s"].notna()]
    several = [name for name in ("session", "system") if equal[name].nunique() > 1]
    return [
        answer
        for mpi in in_order(equal["mpi"], MPI_ORDER)
        for _, part in frames.groups(equal[equal["mpi"] == mpi], ["session", "system"])
        for answer in _of_mpi(_title(mpi, part, several), part)
    ]


def _title(mpi: str, part: pd.DataFrame, several: list[str]) -> str:
    named = ", ".join(str(part[name].iloc[0]) for name in several)
    return mpi_title(mpi) + (f" ({named})" if named else "")


def _of_mpi(title: str, part: pd.DataFrame) -> Iterator[Answer]:
    pattern = "both" if (part["pattern"] == "both").any() else part["pattern"].iloc[0]
    part = part[part["pattern"] == pattern]
    engine = next((name for name in ENGINE_ORDER if (part["variant"] == name).any()), None)
    if engine is None or not (part["variant"] == REFERENCE).any():
        return
    sizes = []
    for (size,), rows in frames.groups(part, ["size_bytes"]):
        facts = {str(row["variant"]): row for row in reversed(frames.rows(rows))}  # of several points the first
        if REFERENCE in facts and engine in facts:
            times = {name: float(facts[name]["total_s"]) for name in (REFERENCE, OWN_THREAD, engine) if name in facts}
            bars = [Bar(name, total, 100 * total / max(times.values())) for name, total in times.items()]
            sizes.append(Size(bytes_text(size), _change(facts[engine]), bars))
    if sizes:
        yield Answer(title, engine, sizes[-MOST_SIZES:])


def _change(fact: dict[str, Any]) -> str:
    value, low, high = (float(fact[f"change_{name}"]) for name in ("value", "low", "high"))
    if not np.isfinite(low + high):
        return "not known whether it changes"
    return change_text(value, low, high, "" if fact["change_defensible"] else ", not certain")
