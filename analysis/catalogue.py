# SPDX-License-Identifier: BSD-3-Clause
"""All subjects that there are, found by their files: one of analysis/studies has those of a paper, or of another group,
as SUBJECTS.

There is no list to add to.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pandas as pd

from analysis import studies
from analysis.errors import UsageError, there_are
from analysis.evidence import Evidence
from analysis.figures.toolkit import Drawn, mark_simulated
from analysis.subject import Subject

ORDER = "PMRFG"  # the papers as the README and the report name them; others come after
PAPERS = ("pioman", "miwa", "ruhela", "fukuoka", "gemini")  # the files of analysis/studies that are a paper's


def subjects_of(package: ModuleType) -> tuple[Subject, ...]:
    """The subjects of a package's files, in the papers' order and by number."""
    files = (file.name for file in pkgutil.iter_modules(package.__path__, f"{package.__name__}."))
    return tuple(sorted((subject for file in files for subject in _of_file(file)), key=_place))


def _of_file(name: str) -> tuple[Subject, ...]:
    found: tuple[Subject, ...] = importlib.import_module(name).SUBJECTS
    return found


def _place(subject: Subject) -> tuple[int, str, int, str]:
    letter, number = subject.id[:1], subject.id[1:]
    known = letter in ORDER and number.isdigit()
    return (ORDER.index(letter), "", int(number), "") if known else (len(ORDER), subject.id, 0, "")


SUBJECTS = subjects_of(studies)
FOLDER = Path(__file__).resolve().parent.parent / "results" / "papers"  # what the papers have published
COLUMNS = ["study", "quantity", "relation", "value", "high", "unit", "condition", "source", "machine"]


def of_paper(name: str) -> tuple[Subject, ...]:
    """The subjects of a paper, by the name of its file."""
    if name not in PAPERS:
        raise UsageError(f"There is no paper '{name}'. {there_are(name, PAPERS)}")
    return tuple(sorted(_of_file(f"{studies.__name__}.{name}"), key=_place))


def draw_all(evidence: Evidence, provenance: str, subjects: Sequence[Subject] = SUBJECTS) -> list[Drawn]:
    """Every figure that the records have points for, in the report's order."""
    return [
        replace(_marked(drawn, evidence), subject=subject.id)
        for subject in subjects
        if subject.outside_records or subject.recorded(evidence.records)
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
