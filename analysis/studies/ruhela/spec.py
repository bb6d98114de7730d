# SPDX-License-Identifier: BSD-3-Clause
"""R4: SPEC MPI2007, where a licensed copy is, and its open substitute, which everybody can have.

The substitute's programs are of the same fields as SPEC's codes and not the same work: they say whether the engine
helps such programs, and nothing of SPEC's own numbers. SPEC's own runs are no compliant ones: estimates.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.chapter import Chapter, Claim
from analysis.evidence import SETTING, Array, Evidence, Value
from analysis.figures import intervals
from analysis.figures.toolkit import Drawn
from analysis.measures import NO_VALUE, Ratio
from analysis.records import frames
from analysis.records.failed import failed, partly, unmeasured
from analysis.statistics.bootstrap import ratio_of_medians
from analysis.statistics.interval import simultaneous
from analysis.studies.ruhela.common import PAPER
from analysis.words import point_words

PREFIX = "spec-"
LICENSED = "spec-mpi2007-"
WHOLE, OWN = "whole_s", "time_s"
BASE = "bare"
PRESETS = ("off", "explicit", "thread", "timer", "idle", "mwait", "adaptive", "offload")


@dataclass(frozen=True)
class Counterpart:
    """What stands for some of SPEC's codes, `study` its name in the records; nothing where none was found, for `why`.

    `by_hand`: the code of `./bench apps` that stands for them and is no study; its row there says how it is run.
    """

    theirs: tuple[str, ...]
    field: str
    study: str = ""
    by_hand: str = ""
    why: str = ""


COUNTERPARTS = (
    Counterpart(("126.lammps",), "molecular dynamics", "spec-lammps-melt"),
    Counterpart(("128.GAPgeofem",), "finite elements", "spec-dolfinx-poisson-cg"),
    Counterpart(("107.leslie3d", "115.fds4", "143.dleslie"), "fluid dynamics", "spec-openfoam-cavity"),
    Counterpart(("113.GemsFDTD", "145.lGemsFDTD"), "electromagnetics", "spec-meep-waveguide"),
    Counterpart(("130.socorro",), "electronic structure", "spec-quantum-espresso-silicon"),
    Counterpart(("137.lu",), "fluid dynamics", "spec-npb-original-lu"),
    Counterpart(("122.tachyon",), "ray tracing", by_hand="tachyon"),
    Counterpart(("125.RAxML",), "phylogenetics", by_hand="examl"),
    Counterpart(("104.milc", "142.dmilc"), "lattice QCD", why="no packaged counterpart was found"),
    Counterpart(("121.pop2",), "ocean", why="no packaged counterpart was found"),
    Counterpart(("127.wrf2", "147.l2wrf2"), "weather", why="no packaged counterpart was found"),
    Counterpart(("129.tera_tf",), "gas dynamics", why="no packaged counterpart was found"),
    Counterpart(("132.zeusmp2",), "astrophysics", why="no packaged counterpart was found"),
)


NOT_RUN = "not run"


@dataclass(frozen=True)
class BestPreset:
    """The median whole time under the preset that is best at a point, over that under bare of the same MPI.

    The best of several is lucky, so its interval is one that holds for all of them at the same time. A preset of which
    a launch failed, be it by a wrong result, is not among them. Each setting has a value of every counterpart: NaN,
    with the reason, where it failed or was not run.
    """

    quantity: str

    def __call__(self, evidence: Evidence, study: str) -> Sequence[Value]:
        if study.startswith(LICENSED):
            return []
        points = evidence.planned(study)
        values = [
            self._value(evidence, keys, part) for keys, part in frames.groups(points, ["study", *SETTING, "point"])
        ]
        return [*values, *_not_run(evidence, study)]

    def _value(self, evidence: Evidence, keys: Sequence[Any], part: pd.DataFrame) -> Value:
        study, session, system, mpi, point = map(str, keys)
        by_variant = {str(name): rows for (name,), rows in frames.groups(part, ["variant"])}
        presets = {name: rows for name, rows in by_variant.items() if name.partition(":")[0] in PRESETS}
        bad = {name: next(iter(failed(rows).values()), "") for name, rows in presets.items()}
        times = {
            name: evidence.launches(rows, self.quantity, "median") for name, rows in presets.items() if not bad[name]
        }
        times = {name: found for name, found in times.items() if found}
        left_out = "; ".join(f"{name} left out ({why})" for name, why in bad.items() if why)
        program = ", ".join(filter(None, [study.removeprefix(PREFIX), point_words(point)]))
        base = by_variant.get(BASE, part.iloc[:0])
        bare = evidence.launches(base, self.quantity, "median")
        if not bare or not times:
            why = "no preset has a value" if bare else f"{BASE}: {unmeasured(base) or NOT_RUN}"
            return Value(system, mpi, session, program, NO_VALUE, "", "; ".join(filter(None, [why, left_out])))
        best = min(times, key=lambda name: _middle(times[name]))
        interval = simultaneous(ratio_of_medians(times[best], bare), len(times))
        caveat, said = evidence.state(part[part["variant"].isin([best, BASE])])
        words = f"{program} ({best}, best of {len(times)} preset{'s' if len(times) != 1 else ''})"
        return Value(
            system,
            mpi,
            session,
            words,
            interval,
            best,
            caveat,
            "; ".join(filter(None, [left_out, partly(base, BASE), said])),
        )


def _not_run(evidence: Evidence, study: str) -> Iterator[Value]:
    """A value of each counterpart that a setting lacks, beside those of the first study that it has."""
    every = evidence.records.points
    for keys, part in frames.groups(every[every["study"].astype(str).str.startswith(PREFIX)], SETTING):
        there = [str(name) for name in frames.unique(part["study"]) if not str(name).startswith(LICENSED)]
        session, system, mpi = map(str, keys)
        if there[:1] == [study]:
            lacking = [one.study for one in COUNTERPARTS if one.study and one.study not in there]
            names = [name.removeprefix(PREFIX) for name in lacking]
            yield from (Value(system, mpi, session, name, NO_VALUE, "", f"{name}: {NOT_RUN}") for name in names)


def _middle(launches: Sequence[Array]) -> float:
    return float(np.median([np.median(launch) for launch in launches]))


CLAIMS = (
    Claim(
        statement="SPEC MPI2007's compute-intensive codes are 38 % faster",
        number="time, adaptive / best other MPI",
        operator="<=",
        threshold=0.62,
        margin=0.10,
        comparator="the best over all MPIs and their own asynchronous modes",
        source="abstract, 384 processes",
        measure=Ratio(OWN, "adaptive", "best other", where={"size": "mref"}),
        requires=("384 processes", "spec licence"),
        since="2026-11-23 06:54",
    ),
    Claim(
        statement="The best preset makes none of the open substitute's programs slower",
        number="whole time, best preset / bare",
        operator="<=",
        threshold=1.0,
        margin=0.02,
        comparator="the same MPI without the engine",
        source="our own, in place of the licensed suite",
        measure=BestPreset(WHOLE),
        since="2026-11-23 06:54",
    ),
)


def draw(evidence: Evidence, provenance: str) -> list[Drawn]:
    """Each program's best preset; SPEC's own codes are a figure of their own, since they are estimates."""
    recorded = CHAPTER.recorded(evidence.records)
    drawn = []
    best = [(study, value) for study in recorded for value in BestPreset(WHOLE)(evidence, study)]
    if any(math.isfinite(value.interval.value) for _, value in best):
        title = "The open substitute of SPEC MPI2007, each program under its best preset"
        formula = "whole time under the best preset over that under bare (less than 1 is faster)"
        one = intervals.draw("spec_substitute", title, formula, "time / bare", {BASE: 1.0}, _frame(best), provenance)
        one.found = _mapping(recorded)
        drawn.append(one)
    licensed = [name for name in recorded if name.startswith(LICENSED)]
    theirs = [
        (study, value)
        for study in licensed
        for preset in PRESETS
        for value in Ratio(OWN, preset, BASE)(evidence, study)
    ]
    if any(math.isfinite(value.interval.value) for _, value in theirs):
        title = "SPEC MPI2007: estimates, no compliant runs"
        formula = "a code's reported time under a variant over that under bare (less than 1 is faster)"
        drawn.append(
            intervals.draw("spec_mpi2007", title, formula, "time / bare", {BASE: 1.0}, _frame(theirs), provenance)
        )
    return drawn


def _frame(values: Sequence[tuple[str, Value]]) -> pd.DataFrame:
    """A row a value, which the report finds the raw records of by its study, session, system, MPI and variant."""
    return pd.DataFrame(
        {"study": study, "session": value.session, "system": value.system}
        | {"label": value.point.partition(" (")[0], "mpi": value.mpi, "variant": value.variant or BASE}
        | {"value": value.interval.value, "low": value.interval.low, "high": value.interval.high}
        | {"interval": value.interval.kind, "status": "ok" if math.isfinite(value.interval.value) else "failed"}
        | {"reason": value.caveat}
        for study, value in values
        if not value.caveat.endswith(NOT_RUN)
    )


def _mapping(recorded: Sequence[str]) -> str:
    """What stands for which of SPEC's codes, and what for none."""
    stands = [
        f"{' and '.join(part.theirs)} ({part.field}): {part.study.removeprefix(PREFIX)}"
        + ("" if part.study in recorded else ", not run")
        for part in COUNTERPARTS
        if part.study
    ]
    by_hand = [f"{' and '.join(part.theirs)} ({part.field}): {part.by_hand}" for part in COUNTERPARTS if part.by_hand]
    lacks = [f"{' and '.join(part.theirs)} ({part.field}): {part.why}" for part in COUNTERPARTS if part.why]
    return (
        f"What stands for SPEC's codes: {'; '.join(stands)}. Not measured, run by hand as ./bench apps says: "
        f"{'; '.join(by_hand)}. Without a counterpart: {'; '.join(lacks)}."
    )


CHAPTER = Chapter("R4", ("spec-*",), PAPER, "SPEC MPI2007 or its open substitute", CLAIMS, (draw,))
