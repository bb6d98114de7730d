# SPDX-License-Identifier: BSD-3-Clause
"""The papers: their numbers as data, the subjects of their files, and since when their claims stand."""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from analysis.claims.table import table as claims_table
from analysis.evidence import Evidence
from analysis.records.load import load
from analysis.report.paper import write_paper
from analysis.subject import COLUMNS, FOLDER, ORDER, PAPERS, draw_all, of_paper, published, subjects
from analysis.tests.synthetic import Synthetic
from analysis.tests.test_claims import rows_of, study_session


def test_every_number_has_its_source() -> None:
    frame = published()
    assert list(frame.columns) == [*COLUMNS, "paper"]
    assert frame.drop(columns="high").notna().all().all()
    assert set(frame["study"]) <= {subject.id for subject in subjects()}
    assert set(frame["relation"]) <= {"=", "<", "<=", ">", "about", "up to"}
    assert set(frame["unit"]) <= {"s", "percent", "ratio", "bytes", "count", "bits_per_s", "Hz"}
    assert (frame["high"].isna() | (frame["high"] > frame["value"])).all()
    assert len(list(FOLDER.glob("*.csv"))) == 5


@pytest.mark.parametrize(
    ("study", "quantity", "threshold"),
    [
        ("M1", "performance improvement of the computation thread", lambda v: 1 + v / 100),
        ("R3", "performance improvement of P3DFFT", lambda v: 1 - v / 100),
        ("R4", "performance improvement of SPEC MPI compute-intensive applications", lambda v: 1 - v / 100),
        ("R1", "improvement of all-to-one collectives", lambda v: 1 - v / 100),
        ("P7", "overhead", lambda v: 1 + v / 100),
        ("P9", "maximum latency", lambda v: v),
        ("F4", "speed-up over existing parallel systems", lambda v: 1 / v),
    ],
)
def test_claims_use_the_published_numbers(study: str, quantity: str, threshold: object) -> None:
    frame = published()
    value = frame.loc[(frame["study"] == study) & (frame["quantity"] == quantity), "value"].item()
    claims = next(subject for subject in subjects() if subject.id == study).claims
    assert callable(threshold)
    assert pytest.approx(threshold(value)) in [claim.threshold for claim in claims]


ROOT = Path(__file__).resolve().parents[2]
ADDED = '''"""O1: a study of our own."""

from analysis.subject import Subject, Claim
from analysis.figures.curves import Curves
from analysis.measures import Median

MEASURE = Median("colour", "bare")
SAYS = "Colours do not fade"
CLAIM = Claim(SAYS, "colour", "<=", 1.0, "one", "nowhere", MEASURE, margin=0.5, since="2026-01-01 00:00")
FIGURES = (Curves("colours", "colours", "By age", "colour", "made up", "age", "age", "colour", say="{:g}".format),)
SUBJECTS = (Subject("O1", ("colours",), "", "how colours fade", (CLAIM,), FIGURES),)
'''
PROGRAM = """
import sys
from pathlib import Path
from analysis.claims.table import table
from analysis.report.report import build_report

session = Path(sys.argv[1])
print(table([session]).text())
print(build_report([session]).path.read_text())
"""


def test_a_papers_subjects_are_its_files_and_each_study_has_one() -> None:
    for letter, name in zip(ORDER, PAPERS, strict=True):
        mine = of_paper(name)
        assert all(subject in subjects() for subject in mine)
        assert [one.id for one in mine if one.paper] == [one.id for one in subjects() if one.id[0] == letter]
    for names in ([subject.id for subject in subjects()], [name for subject in subjects() for name in subject.studies]):
        assert len(names) == len(set(names))
    for subject in subjects():
        assert {getattr(figure, "study", subject.studies[0]) for figure in subject.figures} <= set(subject.studies)


def test_the_papers_stand_in_their_order() -> None:
    ids = [subject.id for subject in subjects()]
    assert ids.index("P2") < ids.index("P10") < ids.index("M1") < ids.index("R1") < ids.index("F1") < ids.index("G1")


@pytest.mark.full
def test_a_file_added_is_enough(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "analysis", tmp_path / "analysis", ignore=shutil.ignore_patterns("tests", "__pycache__"))
    shutil.copytree(ROOT / "results" / "schema", tmp_path / "results" / "schema")
    (tmp_path / "analysis" / "studies" / "colours.py").write_text(ADDED)
    points = [{"point": {"age": age}, "samples": {"colour": [1.0, 1.1, 1.2]}} for age in (1, 10)]
    session = study_session(tmp_path / "s", "colours", {"bare": points})
    said = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(session)],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
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


ALL = [claim for subject in subjects() for claim in subject.claims]


def test_every_claim_says_since_when_to_the_minute() -> None:
    for claim in ALL:
        assert datetime.datetime.strptime(claim.since, "%Y-%m-%d %H:%M"), claim.statement


def test_a_claim_is_younger_than_what_began_before_it_was_written() -> None:
    claim = dataclasses.replace(ALL[0], since="2026-01-03 00:00")
    assert claim.younger_than("2026-01-02T12:00:00Z")
    assert claim.younger_than("2026-01-03T00:30:00+01:00")
    assert not claim.younger_than("2026-01-03T12:00:00+00:00")
    assert not claim.younger_than("yesterday"), "a session whose time nobody knows"


def test_rows_say_since_when_and_whether_after_the_session(tmp_path: Path) -> None:
    points = [{"point": {"threads": n, "threading": "ult"}, "samples": {"mean_latency_s": [1.0]}} for n in (1, 4)]
    for name, created in (("old", "2026-11-21T12:00:00Z"), ("new", "2026-11-22T12:00:00Z")):
        session = study_session(tmp_path / name, "concurrent-latency", {"offload": points})
        facts = json.loads((session / "session.json").read_text())
        (session / "session.json").write_text(json.dumps({**facts, "created": created}))
        row = rows_of(claims_table([session]), "F1")[1]
        assert row.changed_after == (name == "old")
        assert row.dated == "since 2026-11-21 19:47" + (": after this session" if name == "old" else "")
        assert ("after this session" in claims_table([session]).text()) == (name == "old")
    assert "since 2026-11-21" in claims_table([]).text()


@pytest.mark.full
@pytest.mark.parametrize("created", ["2026-11-20T12:00:00Z", "2099-01-01T00:00:00Z"], ids=["before", "after"])
def test_the_appendix_of_a_paper_has_the_dates(tmp_path: Path, created: str) -> None:
    session = Synthetic(launches=2, samples=3, comp_over_comm=(1.0,)).write(tmp_path / "s")
    facts = json.loads((session / "session.json").read_text())
    (session / "session.json").write_text(json.dumps({**facts, "created": created}))
    page = write_paper("pioman", [session], tmp_path / "out").read_text()
    assert "<td>since 2026-11-21 09:57" in page
    assert (": after this session</td>" in page) == (created < "2026-11-21")
    head, *rows = (tmp_path / "out" / "paper-pioman.csv").read_text().splitlines()
    assert "wording" in head.split(",")
    assert any("since 2026-11-21 09:57" in row for row in rows)
