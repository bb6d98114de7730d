# SPDX-License-Identifier: BSD-3-Clause
"""All subjects that there are, found by their files: one of analysis/studies has those of a paper, or of another group,
as SUBJECTS, and names their studies in quotes. There is no list to add to.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

import pandas as pd

from analysis import studies
from analysis.errors import UsageError, there_are
from analysis.evidence import Evidence
from analysis.figures.toolkit import Drawn, mark_simulated
from analysis.records import frames
from analysis.records.load import Records
from analysis.subject import Subject

ORDER = "PMRFG"  # the papers as the README and the report name them; others come after
PAPERS = ("pioman", "miwa", "ruhela", "fukuoka", "gemini")  # the files of analysis/studies that are a paper's


@functools.cache
def _of_file(name: str) -> tuple[Subject, ...]:
    found: tuple[Subject, ...] = importlib.import_module(f"{studies.__name__}.{name}").SUBJECTS
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
    files = sorted(Path(file) for folder in studies.__path__ for file in Path(folder).glob("[!_]*.py"))
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
