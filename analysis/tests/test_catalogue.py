# SPDX-License-Identifier: BSD-3-Clause
"""Chapters are found by their files, and a file added is enough for its claim to be decided and its figure drawn."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from analysis import studies
from analysis.catalogue import CHAPTERS, chapters_of, draw_all
from analysis.evidence import Evidence
from analysis.records.load import load
from analysis.tests.test_claims import study_session

ROOT = Path(__file__).resolve().parents[2]
ADDED = '''"""O1: a study of our own."""

from analysis.chapter import Chapter, Claim
from analysis.figures.curves import Curves
from analysis.measures import Median

MEASURE = Median("colour", "bare")
CLAIMS = (Claim("Colours do not fade", "colour", "<=", 1.0, 0.5, "one", "nowhere", MEASURE, since="2026-01-01 00:00"),)
FIGURES = (Curves("colours", "colours", "By age", "colour", "made up", "age", "age", "colour", say="{:g}".format),)
CHAPTER = Chapter("O1", ("colours",), "", "how colours fade", CLAIMS, FIGURES)
'''
PROGRAM = """
import sys
from pathlib import Path
from analysis.claims.table import table
from analysis.report.report import write_report

session = Path(sys.argv[1])
print(table([session]).text())
print(write_report([session]).read_text())
"""


def test_each_file_has_its_chapter_and_each_study_one() -> None:
    assert chapters_of(studies) == CHAPTERS
    files = {file.stem for file in Path(studies.__path__[0]).glob("*/*.py")} - {"__init__", "common"}
    assert files >= {chapter.studies[0].removesuffix("-*").replace("-", "_") for chapter in CHAPTERS if chapter.paper}
    assert len(files) == len(CHAPTERS)
    for names in ([chapter.id for chapter in CHAPTERS], [name for chapter in CHAPTERS for name in chapter.studies]):
        assert len(names) == len(set(names))
    for chapter in CHAPTERS:
        assert {getattr(figure, "study", chapter.studies[0]) for figure in chapter.figures} <= set(chapter.studies)


def test_the_papers_stand_in_their_order() -> None:
    ids = [chapter.id for chapter in CHAPTERS]
    assert ids.index("P2") < ids.index("P10") < ids.index("M1") < ids.index("R1") < ids.index("F1") < ids.index("G1")


@pytest.mark.full
def test_a_file_added_is_enough(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "analysis", tmp_path / "analysis", ignore=shutil.ignore_patterns("tests", "__pycache__"))
    shutil.copytree(ROOT / "results" / "schema", tmp_path / "results" / "schema")
    (tmp_path / "analysis" / "studies" / "ours").mkdir()
    (tmp_path / "analysis" / "studies" / "ours" / "__init__.py").touch()
    (tmp_path / "analysis" / "studies" / "ours" / "colours.py").write_text(ADDED)
    points = [{"point": {"age": age}, "samples": {"colour": [1.0, 1.1, 1.2]}} for age in (1, 10)]
    session = study_session(tmp_path / "s", "colours", {"bare": points})
    said = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(session)],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout
    assert re.search(r"^O1 +reproduced +Colours do not fade \[mpich \(s\)\]$", said, re.MULTILINE)
    assert "<h3>O1: how colours fade</h3>" in said
    assert said.index("<h3>O1") < said.index("<h4>By age")
    assert (session / "figures" / "colours.csv").exists()


def test_an_empty_session_draws_nothing_and_fails_nowhere(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    assert draw_all(Evidence(load([tmp_path / "s"])), "") == []
