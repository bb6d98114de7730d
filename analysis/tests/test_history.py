# SPDX-License-Identifier: BSD-3-Clause
"""When a claim was written and changed: the committed file knows every wording, and rows say what came after what."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from analysis.catalogue import CHAPTERS
from analysis.claims import history
from analysis.claims.history import Version, entry
from analysis.claims.table import table as claims_table
from analysis.claims.wording import digest, wording
from analysis.report.paper import write_paper
from analysis.report.report import build_report
from analysis.tests.synthetic import Synthetic
from analysis.tests.test_claims import rows_of, study_session

ROOT = Path(__file__).resolve().parents[2]
ALL = [(chapter.id, claim) for chapter in CHAPTERS for claim in chapter.claims]


def test_the_file_knows_the_wording_of_every_claim() -> None:
    found = {key: known.digest for key, known in history.recorded().items()}
    wanted = {(study, claim.statement): digest(wording(claim)) for study, claim in ALL}
    assert found == wanted, "a claim's wording changed: run .venv/bin/python -m analysis.claims.history and commit both"


@pytest.mark.parametrize(
    "change", [{"margin": 0.123}, {"threshold": 1.0123}, {"operator": ">="}, {"up_to": True}, {"requires": ("smt",)}]
)
def test_every_part_that_decides_is_in_the_wording(change: dict[str, object]) -> None:
    claim = ALL[0][1]
    assert digest(wording(dataclasses.replace(claim, **change))) != digest(wording(claim))  # type: ignore[arg-type]
    moved = dataclasses.replace(claim.measure, where={"size_bytes": 1})  # type: ignore[type-var]
    assert digest(wording(dataclasses.replace(claim, measure=moved))) != digest(wording(claim))


def test_a_claim_is_followed_through_its_changes() -> None:
    first = {"statement": "a", "number": "n", "margin": 0.1}
    second, third = {**first, "statement": "b"}, {**first, "statement": "b", "margin": 0.2}
    known = [
        Version(f"2026-01-0{day}T00:00:00+00:00", f"c{day}", "P1", words)
        for day, words in ((1, first), (2, second), (3, third), (4, third))
    ]
    found = entry("P1", third, known, "now")
    assert (found.written_commit, found.changed_commit, found.what) == ("c1", "c3", ("margin",))
    assert found.words() == "written 2026-01-01 00:00, changed 2026-01-03 00:00 (margin)"
    assert entry("P1", first, known, "now").what == ()
    assert found.after("2026-01-02T12:00:00Z")
    assert not found.after("2026-01-03T12:00:00+00:00")
    assert not found.after("yesterday"), "a session whose time nobody knows"
    unchanged = entry("P1", first, known, "now")
    assert unchanged.after("2025-12-31T12:00:00Z"), "a claim that was first written after the session"
    assert not unchanged.after("2026-01-02T00:00:00Z")
    fresh = entry("P1", {**third, "margin": 0.3}, known, "2026-02-01T00:00:00+00:00")
    assert (fresh.written_commit, fresh.changed_commit, fresh.what) == ("c1", "", ("margin",))


def test_rows_say_when_the_wording_changed_and_whether_after_the_session(tmp_path: Path) -> None:
    points = [{"point": {"threads": n, "threading": "ult"}, "samples": {"mean_latency_s": [1.0]}} for n in (1, 4)]
    for name, created in (("old", "2026-11-21T12:00:00Z"), ("new", "2026-11-22T12:00:00Z")):
        session = study_session(tmp_path / name, "concurrent-latency", {"offload": points})
        facts = json.loads((session / "session.json").read_text())
        (session / "session.json").write_text(json.dumps({**facts, "created": created}))
        row = rows_of(claims_table([session]), "F1")[1]
        assert row.changed_after == (name == "old")
        assert "changed 2026-11-21 19:47 (measure, number)" in row.dated
        assert ("after this session" in claims_table([session]).text()) == (name == "old")
    assert "written 2026-11-21" in claims_table([]).text()


def test_a_claim_first_written_after_the_session_is_marked(tmp_path: Path) -> None:
    points = [
        {"point": {"placement": "smt-sibling", "detection": name}, "samples": {"mflops": [rate]}}
        for name, rate in (("spin", 1.0), ("mwait-c1", 1.3))
    ]
    for name, created in (("old", "2026-11-20T12:00:00Z"), ("new", "2026-11-22T12:00:00Z")):
        session = study_session(tmp_path / name, "interference", {"bare": points})
        facts = json.loads((session / "session.json").read_text())
        (session / "session.json").write_text(json.dumps({**facts, "created": created}))
        (row,) = rows_of(claims_table([session]), "M1")
        assert row.changed_after == (name == "old")
        assert row.dated.endswith(": after this session") == (name == "old")


def test_the_report_has_the_dates(tmp_path: Path) -> None:
    page = build_report([Synthetic(launches=2, samples=5).write(tmp_path / "s")]).path.read_text()
    assert ">wording</th>" in page
    assert "written 2026-11-21" in page
    assert "before the first measurement" not in page
    assert "a change of the code that computes the number is not seen there" in page


@pytest.mark.parametrize("created", ["2026-11-20T12:00:00Z", "2099-01-01T00:00:00Z"], ids=["before", "after"])
def test_the_appendix_of_a_paper_has_the_dates(tmp_path: Path, created: str) -> None:
    session = Synthetic(launches=2, samples=3, comp_over_comm=(1.0,)).write(tmp_path / "s")
    facts = json.loads((session / "session.json").read_text())
    (session / "session.json").write_text(json.dumps({**facts, "created": created}))
    page = write_paper("pioman", [session], tmp_path / "out").read_text()
    assert "<td>written 2026-11-21 09:57" in page
    assert (": after this session</td>" in page) == (created < "2026-11-21")
    head, *rows = (tmp_path / "out" / "paper-pioman.csv").read_text().splitlines()
    assert "wording" in head.split(",")
    assert any("written 2026-11-21 09:57" in row for row in rows)


def test_no_page_says_that_all_claims_were_there_before_they_were_measured() -> None:
    """Git shows claims that were written or changed afterwards: history.json names them."""
    assert any(known.what for known in history.recorded().values())
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    assert [page.name for page in pages if "written down before" in " ".join(page.read_text().split())] == []
