# SPDX-License-Identifier: BSD-3-Clause
"""Our applications on one rank beside the codes that they repeat: operations a second, of one session."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Any

import numpy as np
import pandas as pd

from analysis.evidence import SETTING, Array, Evidence
from analysis.figures import intervals
from analysis.figures.toolkit import Drawn
from analysis.records import frames
from analysis.statistics.interval import Interval, middle, ratio_of_medians
from analysis.subject import Subject
from analysis.tables import numbers

WITHIN = 0.10
AS_FAST, SLOWER, UNKNOWN = "as fast, or within 10 %", "slower", "cannot tell"
Point = Mapping[str, Any]


def _kernel(point: Point) -> str:
    return f"NPB {str(point['kernel']).upper()}, class {point['class']}"


def _their_kernel(point: Point) -> str:
    return f"NPB {point['benchmark']}, class {point['class']}"


def _field(*modes: str) -> Callable[[Point], str]:
    def name(point: Point) -> str:
        words = f"FFT of {point['nx']} x {point['ny']} x {point['nz']}, {point['field']}"
        return words if point["mode"] in modes else ""

    return name


# Whose the studies are, and what a point of theirs is called in both; empty: it is the other side's.
OURS: Mapping[str, Callable[[Point], str]] = {"serial-kernel-*": _kernel, "serial-fft": _field("blocking")}
THEIRS: Mapping[str, Callable[[Point], str]] = {"serial-npb-original-*": _their_kernel, "serial-fft": _field("fftw")}


@dataclass(frozen=True)
class Rates:
    """Of one thing: its study, the names of its launches, and their samples in the same order."""

    study: str
    launches: tuple[str, ...]
    samples: list[Array]


@dataclass(frozen=True)
class Pair:
    """Millions of operations a second of ours, measured by `study`, and of theirs; `ratio`: ours over theirs."""

    study: str
    session: str
    system: str
    mpi: str
    what: str
    ours: Interval
    theirs: Interval
    ratio: Interval

    @property
    def verdict(self) -> str:
        """Too few launches decide nothing."""
        if not self.ratio.defensible:
            return UNKNOWN
        if self.ratio.high < 1 - WITHIN:
            return SLOWER
        return AS_FAST if self.ratio.low >= 1 - WITHIN else UNKNOWN


def pairs(evidence: Evidence) -> list[Pair]:
    """All that a session has both sides of."""
    points = evidence.records.points
    if not len(points):
        return []
    good = points[(points["status"] == "ok") & (points["variant"] == "bare")]
    found = []
    for keys, part in frames.groups(good, SETTING):
        ours, theirs = dict(_rates(evidence, part, OURS)), dict(_rates(evidence, part, THEIRS))
        setting = dict(zip(SETTING, map(str, keys), strict=True))
        found += [_pair(setting, what, ours[what], theirs[what]) for what in ours if what in theirs]
    return found


def _rates(
    evidence: Evidence, part: pd.DataFrame, names: Mapping[str, Callable[[Point], str]]
) -> Iterator[tuple[str, Rates]]:
    """What was measured, and its rate in each launch."""
    for (study, point), rows in frames.groups(part, ["study", "point"]):
        for pattern, name in names.items():
            what = name(json.loads(point)) if fnmatch(str(study), pattern) else ""
            if what and (samples := evidence.launches(rows, "mops", "median")):
                yield what, Rates(str(study), tuple(sorted(set(rows["launch"]))), samples)


def _pair(setting: Mapping[str, str], what: str, ours: Rates, theirs: Rates) -> Pair:
    alone = [middle(side.samples) for side in (ours, theirs)]
    return Pair(study=ours.study, **setting, what=what, ours=alone[0], theirs=alone[1], ratio=_ratio(ours, theirs))


def _ratio(ours: Rates, theirs: Rates) -> Interval:
    """Launch by launch where the same launches measured both: a slow minute of the machine is in both of them."""
    if ours.launches != theirs.launches or len(ours.samples) != len(theirs.samples):
        return ratio_of_medians(ours.samples, theirs.samples)
    both = zip(ours.samples, theirs.samples, strict=True)
    return middle([np.array([np.median(mine) / np.median(other)]) for mine, other in both])


BOUNDS = {"the same": 1.0, "10 % slower": 1 - WITHIN}


def draw(evidence: Evidence, provenance: str) -> list[Drawn]:
    """Our rate over theirs, kernel by kernel."""
    found = [
        {"label": pair.what, "mpi": pair.mpi, "variant": "bare", "session": pair.session, "system": pair.system}
        | {"study": pair.study, **numbers(pair.ratio), "status": "ok", "reason": "", "verdict": pair.verdict}
        for pair in pairs(evidence)
    ]
    formula = "operations a second on one rank, ours over the original's or FFTW's (more is faster)"
    title = "Our kernels beside the originals"
    return intervals.draw(evidence, provenance, found, "serial", title, formula, "ours / theirs", BOUNDS)


SUBJECT = Subject(
    "serial",
    ("serial-*",),
    "",
    "one rank beside the originals",
    figures=(draw,),
    note="nothing is claimed of it: it says whether our kernels are as fast as those that they repeat",
)

SUBJECTS = (SUBJECT,)
