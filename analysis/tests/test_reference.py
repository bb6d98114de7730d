# SPDX-License-Identifier: BSD-3-Clause
"""Sessions of every age go on loading, being decided and being drawn: all that are kept, one of each older format."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.catalogue import draw_all
from analysis.claims.table import build
from analysis.evidence import Evidence
from analysis.records.load import load
from analysis.report.findings import sections
from analysis.report.points import Points
from analysis.report.report import pictures
from harness.base import archive

ROOT = Path(__file__).resolve().parents[2]
OLD = Path(__file__).parent / "old_sessions"  # schema-N.tar.xz: launches of a session whose records are of version N
# The engine's costs have no study; what a model had predicted has a page in place of figures, held by
# harness/tests/test_model_points.py.
SESSIONS = {
    str(folder.relative_to(archive.UNPACKED).relative_to(folder.relative_to(archive.UNPACKED).parts[0])): folder
    for kept in sorted((ROOT / "results" / "reference").glob(f"*{archive.SUFFIX}"))
    for folder in archive.sessions_of(kept)
    if (folder / archive.FACTS).exists()
    and not (folder / "costs").exists()
    and not folder.name.startswith("validation-")
}
# Some that are drawn in seconds; with --full all are.
SOME = ("context-switches", "demo", "gate-timer", "miwa", "overlap/overlap-10gbit")


@pytest.mark.parametrize("version", [1, 2, 3])
def test_records_of_every_older_version_load(version: int) -> None:
    (folder,) = archive.sessions_of(OLD / f"schema-{version}{archive.SUFFIX}")
    lines = [file.open().readline() for file in (folder / "records").iterdir()]
    assert lines and all(f'"schema": {version}' in line or f'"schema":{version}' in line for line in lines)
    records = load([folder])
    assert not records.problems
    assert len(records.launches) == len(lines)
    assert set(records.launches["status"]) == {"ok"} and len(records.samples)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in SOME else pytest.mark.full) for name in SESSIONS]
)
def test_a_kept_session_loads_is_decided_and_draws(name: str) -> None:
    folder = SESSIONS[name]
    records = load([folder])
    assert not records.problems
    evidence = Evidence(records)
    drawn = draw_all(evidence, "")
    assert drawn
    table = build(records, evidence.metrics)
    assert any(row.session or row.reason for row in table.rows), "a claim has a number, or says why not"
    placed = [index for section in sections(table, evidence, drawn) for index in section.drawn]
    assert sorted(placed) == list(range(len(drawn))), "every figure stands under its study"
    points = Points(records, folder, evidence.choice)
    for picture in pictures(drawn, points):
        rows = picture["table"].rows
        assert picture["chart"].svg.count("<a href=") == len(rows) > 0
        assert all(row.files >= 0 for row in rows), f"{picture['name']}: every point has its raw records"
