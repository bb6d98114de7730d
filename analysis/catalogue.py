# SPDX-License-Identifier: BSD-3-Clause
"""All chapters that there are, found by their files: one of analysis/studies has those of a paper, or of another group,
as CHAPTERS.

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
from analysis.chapter import Chapter
from analysis.errors import UsageError, there_are
from analysis.evidence import Evidence
from analysis.figures.toolkit import Drawn, mark_simulated

ORDER = "PMRFG"  # the papers as the README and the report name them; others come after
PAPERS = ("pioman", "miwa", "ruhela", "fukuoka", "gemini")  # the files of analysis/studies that are a paper's


def chapters_of(package: ModuleType) -> tuple[Chapter, ...]:
    """The chapters of a package's files, in the papers' order and by number."""
    files = (file.name for file in pkgutil.iter_modules(package.__path__, f"{package.__name__}."))
    return tuple(sorted((chapter for file in files for chapter in _of_file(file)), key=_place))


def _of_file(name: str) -> tuple[Chapter, ...]:
    found: tuple[Chapter, ...] = importlib.import_module(name).CHAPTERS
    return found


def _place(chapter: Chapter) -> tuple[int, str, int, str]:
    letter, number = chapter.id[:1], chapter.id[1:]
    known = letter in ORDER and number.isdigit()
    return (ORDER.index(letter), "", int(number), "") if known else (len(ORDER), chapter.id, 0, "")


CHAPTERS = chapters_of(studies)
FOLDER = Path(__file__).resolve().parent.parent / "results" / "papers"  # what the papers have published
COLUMNS = ["study", "quantity", "relation", "value", "high", "unit", "condition", "source", "machine"]


def of_paper(name: str) -> tuple[Chapter, ...]:
    """The chapters of a paper, by the name of its file."""
    if name not in PAPERS:
        raise UsageError(f"There is no paper '{name}'. {there_are(name, PAPERS)}")
    return tuple(sorted(_of_file(f"{studies.__name__}.{name}"), key=_place))


def draw_all(evidence: Evidence, provenance: str, chapters: Sequence[Chapter] = CHAPTERS) -> list[Drawn]:
    """Every figure that the records have points for, in the report's order."""
    return [
        replace(_marked(drawn, evidence), chapter=chapter.id)
        for chapter in chapters
        if chapter.beside_records or chapter.recorded(evidence.records)
        for figure in chapter.figures
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
