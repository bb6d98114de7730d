# SPDX-License-Identifier: BSD-3-Clause
"""Ruhela et al., "Efficient Asynchronous Communication Progress for MPI without Dedicated Resources", EuroMPI 2018: R1
to R4."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.evidence import SETTING, Array, Evidence, Value
from analysis.figures import intervals, toolkit
from analysis.figures.curves import Curves
from analysis.figures.overlap import Sweep
from analysis.figures.toolkit import Drawn, Plot
from analysis.measures import MetricAt, OfAll, Ratio
from analysis.records import frames
from analysis.records.frames import failed, partly, unmeasured
from analysis.statistics.interval import NO_VALUE, Interval, ratio_of_medians, simultaneous
from analysis.subject import Cause, Claim, Subject
from analysis.tables import numbers
from analysis.words import bytes_text, mpi_title, plain, point_words

PAPER = "Ruhela et al., EuroMPI 2018"


COLLECTIVE_OVERLAP = "collective-overlap"
COLLECTIVES = ("ireduce", "igather", "ibcast", "iscatter", "iallreduce", "ialltoall", "iallgather")
AT_EQUAL = {"comp_over_comm": 1.0}
PAPER_GAIN = {"all-to-one": 0.54, "one-to-all": 0.63, "all-to-all": 0.51}  # up to 46, 37 and 49 % less
BY_ITSELF = 0.5  # overlap efficiency of bare from which on the MPI is said to overlap by itself

R1_CLAIMS = tuple(
    Claim(
        statement=f"{pattern.capitalize()} collectives are up to {percent} % better than the best other MPI, or a "
        "tenth less",
        number=f"total, adaptive / best other MPI, best of the {pattern} collectives",
        operator="<=",
        threshold=1 - percent / 100,
        margin=0.10 * percent / 100,
        comparator="the best over all MPIs and their own asynchronous modes",
        source="abstract, 1,024 processes; 'improvement' (of what, it does not say) is read as less of the whole time",
        measure=Ratio("total_s", "adaptive", "best other", {"pattern": pattern}),
        requires=("1024 processes",),
        up_to=True,
        cause=Cause(
            "perfect overlap of two equal parts saves 50 %, and what an MPI's sockets overlap by themselves nobody "
            "gains again; the engine's thread and the kernel's copying take time from the core that computes, and a "
            "collective of dependent steps waits for a wake of the engine at each (docs/measured/overlap.md)",
            "compute slowdown with adaptive",
            MetricAt("compute_inflation", "adaptive", {"pattern": pattern, "comp_over_comm": 1.0}),
        ),
        since="2026-11-28 12:10",
    )
    for pattern, percent in (("all-to-one", 46), ("one-to-all", 37), ("all-to-all", 49))
)

OVERLAP = Curves(
    name="collective_overlap",
    study=COLLECTIVE_OVERLAP,
    title="Nonblocking collectives beside a computation as long as they",
    quantity="total_s",
    formula="total: from the start until every rank is done, comp as long as the bare collective alone, the same "
    "work for every variant (lower is better; Ruhela et al., EuroMPI 2018)",
    x="collective",
    x_label="collective",
    x_axis="words",
    y_label="total",
    row="size_bytes",
    order=COLLECTIVES,
    where=AT_EQUAL,
    words_of={"size_bytes": bytes_text},
)


def gain(evidence: Evidence, provenance: str) -> list[Drawn]:
    """The engine against the best of the same MPI's own modes: one figure a system."""
    found = evidence.choice.of(gains(evidence).assign(study=COLLECTIVE_OVERLAP))
    if not len(found) or not found["value"].notna().any():
        return []
    several = found["system"].nunique() > 1
    parts = frames.groups(found, ["system"])
    return [_drawn_gain(part, provenance, system if several else None) for (system,), part in parts]


def gains(evidence: Evidence) -> pd.DataFrame:
    """Total of a collective with the engine over the best of the same MPI's own modes: a row an MPI and point.

    Of the same MPI alone, whose modes all do the same work; where they did not, the row has no value, and the reason.
    """
    points = evidence.points(COLLECTIVE_OVERLAP)
    if not len(points):
        return points
    alone = _efficiency_of_bare(evidence)
    rows: list[dict[str, Any]] = []
    for pattern, name, size in points[["pattern", "collective", "size_bytes"]].drop_duplicates().to_numpy():
        where = {"collective": name, "size_bytes": size, **AT_EQUAL}
        for value in Ratio("total_s", "adaptive", "best own", where)(evidence, COLLECTIVE_OVERLAP):
            found = value.interval
            rows.append({"session": value.session, "system": value.system, "mpi": value.mpi, "variant": "adaptive",
                         "collective": name, "pattern": pattern, "size_bytes": size, "value": found.value,
                         "low": found.low, "high": found.high, "interval": found.kind,
                         "defensible": found.defensible, "freedom": found.freedom,
                         "status": "ok" if np.isfinite(found.value) else "failed", "reason": value.caveat,
                         "efficiency_of_bare": alone.get((value.session, value.mpi, name, size))})  # fmt: skip
    return pd.DataFrame(rows)


def _efficiency_of_bare(evidence: Evidence) -> dict[tuple[str, str, str, int], float]:
    """What the MPI overlaps by itself: (session, MPI, collective, size) -> overlap efficiency at comp = comm."""
    frame = evidence.metrics
    if not len(frame) or "collective" not in frame:
        return {}
    chosen = frame[(frame["metric"] == "overlap_efficiency") & (frame["variant"] == "bare")]
    chosen = chosen[(chosen["study"] == COLLECTIVE_OVERLAP) & (chosen["comp_over_comm"] == 1.0)]
    places = chosen[["session", "mpi", "collective", "size_bytes"]].itertuples(index=False, name=None)
    return dict(zip(places, chosen["value"], strict=True))


def _drawn_gain(part: pd.DataFrame, provenance: str, system: Any) -> Drawn:
    title = "Nonblocking collectives: the engine against the best of the same MPI's own modes"
    caption = (
        f"{title}: median total with adaptive over the lesser of the median totals of bare and mpi-async, comp = comm "
        "(lower is better; Ruhela et al., EuroMPI 2018: up to 46, 37 and 49 % less, against all MPIs, at 1,024 "
        f"processes). {toolkit.interval_words(part)} {provenance}"
    )
    by_mpi = frames.groups(part, ["mpi", "size_bytes"])
    found = " ".join(_found(mine, f"{mpi_title(mpi)}, {bytes_text(size)}") for (mpi, size), mine in by_mpi)
    found += " At comp = comm, perfect overlap saves 50 % of what runs serially." + toolkit.doubt_words(part)
    plot = Plot(
        x="collective", x_label="collective", y_label="engine / best own mode", x_axis="words", row="size_bytes",
        lines={"as fast as without it": 1.0}, order=COLLECTIVES,
        references={"the paper's best": "papers_best"},
    )  # fmt: skip
    part = part.assign(papers_best=part["pattern"].map(PAPER_GAIN))
    return Drawn(toolkit.slug("collective_gain", system), title, caption, part, plot, found)


def _found(part: pd.DataFrame, which: str) -> str:
    """ "MPICH, 4 MB: ... shorter ... by ibcast 47 % (45 to 49), .... The paper's best ... is reached by: ...; ..." """
    part = part.sort_values("collective", key=lambda names: names.map(COLLECTIVES.index))
    rows = frames.rows(part)
    measured = [row for row in rows if np.isfinite(row["value"])]
    less = ", ".join(f"{row['collective']} {_less(row)}" for row in measured)
    judged = [(row["collective"], _against_the_paper(row, len(measured))) for row in rows]
    told = "; ".join(f"{how} {_names(judged, how)}" for how in (REACHED, MISSED))
    told += "".join(f"; {how} {_names(judged, how)}" for how in (OPEN, NOTHING) if _names(judged, how) != NO_COLLECTIVE)
    itself = part["efficiency_of_bare"].astype(float) >= BY_ITSELF
    by_itself = ", ".join(dict.fromkeys(part.loc[itself, "collective"])) or NO_COLLECTIVE
    return (
        f"{which}: with the engine the total is shorter than in this MPI's own best mode by {less or '–'}. The paper's "
        f"best (46, 37, 49 %), decided by intervals that hold for all of these at the same time, is {told}. Overlapped "
        f"by the MPI itself (efficiency of bare at least {BY_ITSELF:g}): {by_itself}."
    )


REACHED, MISSED, OPEN, NOTHING = "reached by:", "missed by:", "cannot tell:", "no value:"
NO_COLLECTIVE = "none"


def _names(judged: Sequence[tuple[str, str]], how: str) -> str:
    return ", ".join(dict.fromkeys(name for name, found in judged if found == how)) or NO_COLLECTIVE


def _less(row: Mapping[str, Any]) -> str:
    """41 % (37 to 46)."""
    value, low, high = (plain(100 * (1 - row[name]), 0) for name in ("value", "high", "low"))
    return f"{value} % ({low} to {high})"


def _against_the_paper(row: Mapping[str, Any], points: int) -> str:
    """Whether a collective reaches the paper's best: only an interval that decides, over all collectives at once,
    says so."""
    if not np.isfinite(row["value"]):
        return NOTHING
    alone = Interval(*(row[name] for name in ("value", "low", "high", "interval", "defensible", "freedom")))
    found = simultaneous(alone, points)
    if row["reason"] or not found.defensible:
        return OPEN
    wanted = PAPER_GAIN[row["pattern"]]
    return REACHED if found.high <= wanted else MISSED if found.low > wanted else OPEN


R1 = Subject(
    "R1",
    (COLLECTIVE_OVERLAP,),
    PAPER,
    "overlap of nonblocking collectives",
    R1_CLAIMS,
    (OVERLAP, gain, Sweep(COLLECTIVE_OVERLAP)),
)


R2_CLAIMS = (
    Claim(
        statement="The adaptive thread has fewer context switches than an always-on one",
        number="switches a second, adaptive / thread, communication pending",
        operator="<",
        threshold=1.0,
        comparator="a thread that always polls",
        source="abstract",
        measure=Ratio("switches_per_s", "adaptive", "thread", {"pending": True}),
        figure="context_switches",
        cause=Cause(
            "a thread that always polls never leaves its core by itself: it is switched only when its time slice ends, "
            "and has half of the core meanwhile; adaptive sleeps and wakes with the traffic and leaves the core to the "
            "computation",
            "time of the computation, adaptive / thread",
            Ratio("comp_in_s", "adaptive", "thread", {"pending": True}),
        ),
        since="2026-11-28 12:10",
    ),
    Claim(
        statement="With nothing pending the adaptive thread does not switch at all",
        number="switches a second of the engine's threads, mean of all, adaptive, nothing pending",
        operator="<=",
        threshold=0.0,
        margin=0.1,
        comparator="none",
        source="abstract; the engine's own promise",
        measure=OfAll("switches_per_s", "adaptive", "mean", {"pending": False}),
        since="2026-11-28 12:10",
    ),
    Claim(
        statement="The adaptive thread switches less often than the MPIs' own progress thread",
        number="switches a second, adaptive / mpi-async, communication pending",
        operator="<",
        threshold=1.0,
        comparator="the same MPI's own asynchronous mode",
        source="abstract: 'minimizes the number of context-switches', against 'state-of-the-art designs'",
        measure=Ratio("switches_per_s", "adaptive", "mpi-async", {"pending": True}),
        figure="context_switches",
        since="2026-11-29 02:30",
    ),
    Claim(
        statement="The adaptive thread preempts the main thread less often than the MPIs' own progress thread",
        number="preemptions a second of the program's threads, adaptive / mpi-async, communication pending",
        operator="<",
        threshold=1.0,
        comparator="the same MPI's own asynchronous mode",
        source="abstract: 'minimizes ... preemption between the main thread and the asynchronous progress thread'",
        measure=Ratio("application_preemptions_per_s", "adaptive", "mpi-async", {"pending": True}),
        figure="context_switches",
        since="2026-11-29 02:30",
    ),
)

R2_FIGURES = (
    Curves(
        name="context_switches",
        study="context-switches",
        title="Context switches of the engine's threads while the program computes",
        quantity="switches_per_s",
        formula="switches a second of all threads but the application's, of a node (lower is better; Ruhela et al., "
        "EuroMPI 2018)",
        x="pending",
        x_label="communication",
        x_axis="words",
        y_label="switches a second",
        say="{:g}".format,
        log_y=False,
        meanings={True: "pending", False: "nothing pending"},
    ),
)

R2 = Subject(
    "R2", ("context-switches",), PAPER, "context switches of adaptive and always-on threads", R2_CLAIMS, R2_FIGURES
)


FFT = "fft"
MODES = ("blocking", "pipelined", "chunked")
PIPELINED, BLOCKING = {"mode": "pipelined"}, {"mode": "blocking"}
SHARED_CORE = (
    "perfect overlap saves the shorter of the two parts, transforms or transposes, and the engine's thread and the "
    "kernel's copying take time from the core that transforms"
)
COMPUTING = "time outside of MPI calls, pipelined with adaptive / blocking and bare"

R3_CLAIMS = (
    Claim(
        statement="The 3D FFT is 44 % faster, or a tenth less",
        number="time, pipelined with adaptive / blocking with the best other MPI",
        operator="<=",
        threshold=0.56,
        margin=0.044,
        comparator="the best over all MPIs and their own asynchronous modes, with blocking transposes",
        source="abstract, P3DFFT, 448 processes; 'improvement' is read as less time",
        measure=Ratio("elapsed_s", "adaptive", "best other", PIPELINED, BLOCKING),
        figure="fft",
        requires=("448 processes",),
        cause=Cause(SHARED_CORE, COMPUTING, Ratio("comp_s", "adaptive", "bare", PIPELINED, BLOCKING)),
        since="2026-11-28 12:10",
    ),
    Claim(
        statement="A pipeline of transposes with the adaptive engine is 44 % faster than blocking ones, or a tenth "
        "less",
        number="time, pipelined with adaptive / blocking and bare",
        operator="<=",
        threshold=0.56,
        margin=0.044,
        comparator="the same MPI, bare, with blocking transposes",
        source="our own, after the abstract, on as many nodes as the run is given",
        measure=Ratio("elapsed_s", "adaptive", "bare", PIPELINED, BLOCKING),
        figure="fft",
        cause=Cause(
            f"{SHARED_CORE}; in the first and the last stage of the pipeline nothing travels",
            COMPUTING,
            Ratio("comp_s", "adaptive", "bare", PIPELINED, BLOCKING),
        ),
        since="2026-11-28 12:10",
    ),
)

FFT_TIMES = Curves(
    name="fft",
    study=FFT,
    title="3D Fourier transforms whose transposes travel alone or beside them",
    quantity="elapsed_s",
    formula="all fields forward and backward, in pencils; blocking: MPI_Alltoallv; pipelined: a field's transpose "
    "beside the transforms of the others; chunked: a chunk's beside those of the others of its field (lower is better; "
    "Ruhela et al., EuroMPI 2018)",
    x="mode",
    x_label="mode",
    x_axis="words",
    y_label="time",
    row="nx",
    apart=("fields", "field", "chunks"),
    order=MODES,
    log_y=False,
    words_of={
        "nx": lambda edge: f"{edge:g}³ points",
        "fields": lambda number: f"{number:g} field{'s' if number > 1 else ''}",
        "chunks": "{:g} chunks".format,
    },
)

R3 = Subject("R3", (FFT,), PAPER, "3D fast Fourier transform", R3_CLAIMS, (FFT_TIMES,))


SPEC = "spec-"
LICENSED = "spec-mpi2007-"
WHOLE, OWN = "whole_s", "time_s"
BASE = "bare"
LINES = {BASE: 1.0}
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
        program = ", ".join(filter(None, [study.removeprefix(SPEC), point_words(point)]))
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
    for keys, part in frames.groups(every[every["study"].astype(str).str.startswith(SPEC)], SETTING):
        there = [str(name) for name in frames.unique(part["study"]) if not str(name).startswith(LICENSED)]
        session, system, mpi = map(str, keys)
        if there[:1] == [study]:
            lacking = [one.study for one in COUNTERPARTS if one.study and one.study not in there]
            names = [name.removeprefix(SPEC) for name in lacking]
            yield from (Value(system, mpi, session, name, NO_VALUE, "", f"{name}: {NOT_RUN}") for name in names)


def _middle(launches: Sequence[Array]) -> float:
    return float(np.median([np.median(launch) for launch in launches]))


R4_CLAIMS = (
    Claim(
        statement="SPEC MPI2007's compute-intensive codes are 38 % faster, or a tenth less",
        number="time, adaptive / best other MPI",
        operator="<=",
        threshold=0.62,
        margin=0.038,
        comparator="the best over all MPIs and their own asynchronous modes",
        source="abstract, 384 processes; 'improvement' is read as less time",
        measure=Ratio(OWN, "adaptive", "best other", where={"size": "mref"}),
        requires=("384 processes", "spec licence"),
        since="2026-11-28 12:10",
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


def draw_spec(evidence: Evidence, provenance: str) -> list[Drawn]:
    """Each program's best preset; SPEC's own codes are a figure of their own, since they are estimates."""
    recorded = R4.recorded(evidence.records)
    drawn: list[Drawn] = []
    best = [(study, value) for study in recorded for value in BestPreset(WHOLE)(evidence, study)]
    title = "The open substitute of SPEC MPI2007, each program under its best preset"
    formula = "whole time under the best preset over that under bare (less than 1 is faster)"
    stands = _mapping(recorded)
    drawn += intervals.draw(
        evidence, provenance, _points(best), "spec_substitute", title, formula, "time / bare", LINES, lambda _: stands
    )
    licensed = [name for name in recorded if name.startswith(LICENSED)]
    theirs = [
        (study, value)
        for study in licensed
        for preset in PRESETS
        for value in Ratio(OWN, preset, BASE)(evidence, study)
    ]
    title = "SPEC MPI2007: estimates, no compliant runs"
    formula = "a code's reported time under a variant over that under bare (less than 1 is faster)"
    drawn += intervals.draw(evidence, provenance, _points(theirs), "spec_mpi2007", title, formula, "time / bare", LINES)
    return drawn


def _points(values: Sequence[tuple[str, Value]]) -> list[dict[str, Any]]:
    """A row a value, which the report finds the raw records of by its study, session, system, MPI and variant."""
    return [
        {"study": study, "session": value.session, "system": value.system, "label": value.point.partition(" (")[0],
         "mpi": value.mpi, "variant": value.variant or BASE, **numbers(value.interval),
         "status": "ok" if math.isfinite(value.interval.value) else "failed", "reason": value.caveat}
        for study, value in values
        if not value.caveat.endswith(NOT_RUN)
    ]  # fmt: skip


def _mapping(recorded: Sequence[str]) -> str:
    """What stands for which of SPEC's codes, and what for none."""
    stands = [
        f"{' and '.join(part.theirs)} ({part.field}): {part.study.removeprefix(SPEC)}"
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


R4 = Subject("R4", ("spec-*",), PAPER, "SPEC MPI2007 or its open substitute", R4_CLAIMS, (draw_spec,))


SUBJECTS = (R1, R2, R3, R4)
