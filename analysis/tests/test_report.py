# SPDX-License-Identifier: BSD-3-Clause
"""The report of good and of bad sessions: one file, sentences, no traceback."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from analysis.errors import Failure, UsageError
from analysis.report.report import build_report, write_report
from analysis.tests.synthetic import USUAL, Behaviour, Synthetic


def test_the_report_stands_alone_and_says_what_was_found(tmp_path: Path) -> None:
    variants = {name: USUAL[name] for name in ("bare", "mpi-async", "adaptive")}
    session = Synthetic(mpis={"mpich": variants}, launches=2, samples=5).write(tmp_path / "s")
    report = build_report([session])
    assert report.path == session / "report.html"
    page = report.path.read_text()
    assert not re.findall(r'(?:src|href)="(?!data:|#|records/)', page), "nothing from outside the file"
    assert "MPICH: this points to no progress while the program computes, but only 2 launches were measured" in page
    assert "made up: nothing was sent" in page
    assert "Its own progress thread makes it slower than no overlap at all" in report.verdict
    assert "The engine (adaptive) makes it overlap" in report.verdict
    assert "spreads over 2 launches" in report.verdict
    for figure in report.figures:
        assert {figure.with_suffix(suffix).exists() for suffix in (".png", ".svg", ".pdf", ".csv")} == {True}
    assert {figure.stem for figure in report.figures} == {"overlap_efficiency-both", "overlap_ratio-4mb"}


@pytest.mark.parametrize(
    ("variants", "expected"),
    [
        ({"adaptive": Behaviour(0.9)}, "no verdict, because the variant bare was not run"),
        ({"bare": Behaviour(0.95, 1.03)}, "MPICH: this points to progress by itself, but only 2"),
        ({"bare": Behaviour(0.5)}, "MPICH: this points to progress in part by itself, but only 2"),
        ({"bare": Behaviour(0.1), "adaptive": Behaviour(0.9, fails="skipped")}, "skipped: made up"),
        ({"bare": Behaviour(0.1, fails="failed"), "adaptive": Behaviour(0.1, fails="failed")}, "failed: made up"),
    ],
)
def test_verdicts_of_partial_sessions(tmp_path: Path, variants: dict[str, Behaviour], expected: str) -> None:
    session = Synthetic(mpis={"mpich": variants}, launches=2, samples=5, comp_over_comm=(1.0,)).write(tmp_path / "s")
    report = build_report([session])
    assert expected in report.verdict
    assert report.path.exists()


def test_an_empty_session_has_a_report_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    report = build_report([tmp_path / "empty"], tmp_path / "out")
    assert report.path == tmp_path / "out" / "report.html"
    assert "was not measured" in report.verdict
    assert "no record files" in report.path.read_text()


def test_usage_errors(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no session given"):
        write_report([])
    with pytest.raises(UsageError, match="no such session"):
        write_report([tmp_path / "nowhere"])
    session = Synthetic(launches=1, comp_over_comm=(1.0,)).write(tmp_path / "s")
    with pytest.raises(UsageError, match="given twice"):
        write_report([session, tmp_path / "." / "s"])
    (tmp_path / "file").write_text("")
    with pytest.raises(Failure, match="cannot be written"):
        write_report([session], tmp_path / "file")


def test_an_interrupted_session_and_its_damaged_file_are_said_on_top(tmp_path: Path) -> None:
    session = Synthetic(mpis={"mpich": {"bare": Behaviour(0.1)}}, launches=2, comp_over_comm=(1.0,)).write(
        tmp_path / "s"
    )
    facts = (session / "session.json").read_text().replace('"state": "complete"', '"state": "interrupted"')
    (session / "session.json").write_text(facts)
    file = min((session / "records").glob("*.jsonl"))
    file.write_text("\n".join(file.read_text().splitlines()[:-1]))
    said = build_report([session]).verdict
    assert "Session s is interrupted" in said
    assert "1 problems in the files, the first" in said
    assert "MPICH: this points to no progress" in said
