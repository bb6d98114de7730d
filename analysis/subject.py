# SPDX-License-Identifier: BSD-3-Clause
"""What the analysis has to say of studies: the claims that are decided, and the figures that are drawn.

A file of analysis/studies has the subjects of a paper, or of another group, as SUBJECTS, made of the parts that are
here, and names their studies in quotes: by that it is found. There is no list to add to.
"""

from __future__ import annotations

import datetime
import functools
import importlib
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Protocol

import pandas as pd

from analysis.errors import UsageError, there_are
from analysis.evidence import Evidence, Value
from analysis.figures.toolkit import Drawn, mark_simulated
from analysis.records import frames
from analysis.records.load import Records


class Measure(Protocol):
    """Reads the number of a claim off the records: one value a setting and point; empty where nothing was recorded."""

    def __call__(self, evidence: Evidence, study: str) -> Sequence[Value]: ...


class Figure(Protocol):
    """Draws what the records have points for: nothing, one figure, or one a system, size, pattern."""

    def __call__(self, evidence: Evidence, provenance: str) -> list[Drawn]: ...


@dataclass(frozen=True)
class Cause:
    """Why a claim may not be reproduced: said only where it is not. `number` is what `measure` reads off `studies`
    (empty: the claim's own), which shows the cause or disproves it."""

    statement: str
    number: str = ""
    measure: Measure | None = None
    studies: tuple[str, ...] = ()


# Between which bounds a number must lie, by a claim's operator, threshold and margin; a strict one holds on neither.
OPERATORS: dict[str, Callable[[float, float], tuple[float, float]]] = {
    "<=": lambda threshold, margin: (-math.inf, threshold + margin),
    ">=": lambda threshold, margin: (threshold - margin, math.inf),
    "<": lambda threshold, margin: (-math.inf, threshold + margin),
    ">": lambda threshold, margin: (threshold - margin, math.inf),
    "=": lambda threshold, margin: (threshold - margin, threshold + margin),
}
STRICT = ("<", ">")


@dataclass(frozen=True)
class Claim:
    """`operator` is one of OPERATORS; the measured number is held against `threshold`, relaxed by `margin`. A claim of
    a difference is strict: that none was seen does not prove it. One that there is none has both sides.

    `margin` is in the number's own unit and always to the claim's advantage: how far from the paper's word a
    reproduction on another machine may be and still count. `since`: the minute (UTC) since when it has stood as it is;
    set it anew with any change of what decides, so that a report can say which claims are younger than what they judge.
    """

    statement: str
    number: str
    operator: str
    threshold: float
    comparator: str
    source: str
    measure: Measure
    figure: str = ""
    requires: tuple[str, ...] = ()
    mpis: tuple[str, ...] = ()
    cause: Cause | None = None
    up_to: bool = False  # "up to 46 %": the best point counts, where otherwise every point must hold
    margin: float = field(default=0.0, kw_only=True)
    since: str = field(kw_only=True)

    @property
    def bounds(self) -> tuple[float, float]:
        return OPERATORS[self.operator](self.threshold, self.margin)

    def holds_for(self, mpi: str) -> bool:
        """Whether the claim speaks of this MPI; `mpis` names families: 'openmpi' covers 'debian-openmpi'."""
        return not self.mpis or any(name in mpi for name in self.mpis)

    def younger_than(self, measured: str) -> bool:
        """Whether it was written or changed after a session that began at `measured` (ISO 8601); False if that is no
        time."""
        try:
            return _time(self.since) > _time(measured)
        except ValueError:
            return False


def _time(text: str) -> datetime.datetime:
    found = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return found if found.tzinfo else found.replace(tzinfo=datetime.timezone.utc)


@dataclass(frozen=True)
class Subject:
    """One of the papers' 26 studies, P1 to G5, or one of our own. `studies`: what those that are run for it are called
    in the records, or how their names begin ("harm-*"). `note` says why nothing is claimed, if so."""

    id: str
    studies: tuple[str, ...]
    paper: str
    title: str
    claims: tuple[Claim, ...] = ()
    figures: tuple[Figure, ...] = ()
    note: str = ""

    def covers(self, study: str) -> bool:
        """Whether a study that is run is one of this subject's."""
        return any(fnmatchcase(study, name) for name in self.studies)

    def recorded(self, records: Records) -> list[str]:
        """Its studies that left records."""
        names = frames.unique(records.launches["study"]) if len(records.launches) else []
        return [str(name) for name in names if self.covers(str(name))]


ORDER = "PMRFG"  # the papers as the README and the report name them; others come after
PAPERS = ("pioman", "miwa", "ruhela", "fukuoka", "gemini")  # the files of analysis/studies that are a paper's


@functools.cache
def _of_file(name: str) -> tuple[Subject, ...]:
    found: tuple[Subject, ...] = importlib.import_module(f"analysis.studies.{name}").SUBJECTS
    return found


def _in_order(files: Iterable[str]) -> tuple[Subject, ...]:
    """The subjects of these files, in the papers' order and by number."""
    return tuple(sorted((subject for file in files for subject in _of_file(file)), key=_place))


def _place(subject: Subject) -> tuple[int, str, int, str]:
    letter, number = subject.id[:1], subject.id[1:]
    known = letter in ORDER and number.isdigit()
    return (ORDER.index(letter), "", int(number), "") if known else (len(ORDER), subject.id, 0, "")


FOLDER = Path(__file__).resolve().parent.parent / "results" / "papers"  # what the papers have published
COLUMNS = ["study", "quantity", "relation", "value", "high", "unit", "condition", "source", "machine"]


@functools.cache
def _words() -> dict[str, set[str]]:
    """What stands in quotes, by file: the names of the studies are among it."""
    files = sorted(Path(__file__).with_name("studies").glob("[!_]*.py"))
    return {file.stem: set(re.findall(r'"([\w*-]+)"', file.read_text())) for file in files}


def subjects() -> tuple[Subject, ...]:
    """All that there are."""
    return _in_order(_words())


def of_paper(name: str) -> tuple[Subject, ...]:
    """The subjects of a paper, by the name of its file."""
    if name not in PAPERS:
        raise UsageError(f"There is no paper '{name}'. {there_are(name, PAPERS)}")
    return _in_order([name])


def _file_of(study: str) -> Iterator[str]:
    """The file whose subject the study is of, if there is one: first are looked at those that name it."""
    files = sorted(_words(), key=lambda file: not any(fnmatchcase(study, word) for word in _words()[file]))
    yield from islice((file for file in files if any(subject.covers(study) for subject in _of_file(file))), 1)


def of_studies(names: Collection[str]) -> tuple[Subject, ...]:
    """The subjects of these studies; files of others are not imported."""
    files = {file for name in names for file in _file_of(name)}
    return tuple(subject for subject in _in_order(files) if any(map(subject.covers, names)))


def recorded(records: Records) -> tuple[Subject, ...]:
    """The subjects of which some study left records."""
    return of_studies([str(name) for name in frames.unique(records.launches["study"])]) if len(records.launches) else ()


def draw_all(evidence: Evidence, provenance: str, chosen: Sequence[Subject] | None = None) -> list[Drawn]:
    """Every figure that the records have points for, in the report's order; of `chosen` subjects alone, if given."""
    return [
        replace(_marked(drawn, evidence), subject=subject.id)
        for subject in recorded(evidence.records)
        if chosen is None or subject in chosen
        for figure in subject.figures
        for drawn in figure(evidence, provenance)
    ]


def _marked(drawn: Drawn, evidence: Evidence) -> Drawn:
    """A figure says whether something in it was predicted by a model instead of measured."""
    sessions = set(map(str, drawn.points["session"])) if "session" in drawn.points else set()
    return mark_simulated(drawn) if any(map(evidence.records.simulated, sessions)) else drawn


def published(folder: Path = FOLDER) -> pd.DataFrame:
    """One row a number, with `paper` the file it stands in; see results/papers/README.md for the columns."""
    return pd.concat(
        [pd.read_csv(file).assign(paper=file.stem) for file in sorted(folder.glob("*.csv"))], ignore_index=True
    )
