# SPDX-License-Identifier: BSD-3-Clause
"""Since when a claim stands as it is: rows, report and a paper's appendix say what is younger than its session."""

from __future__ import annotations

import dataclasses
import datetime
import json
from pathlib import Path

import pytest

from analysis.catalogue import CHAPTERS
from analysis.claims.table import table as claims_table
from analysis.report.paper import write_paper
from analysis.report.report import build_report
from analysis.tests.synthetic import Synthetic
from analysis.tests.test_claims import rows_of, study_session

ALL = [claim for chapter in CHAPTERS for claim in chapter.claims]


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


def test_the_report_has_the_dates(tmp_path: Path) -> None:
    page = build_report([Synthetic(launches=2, samples=5).write(tmp_path / "s")]).path.read_text()
    assert ">wording</th>" in page
    assert "since 2026-11-21" in page
    assert "a change of the code that computes the number is not seen there" in page


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
