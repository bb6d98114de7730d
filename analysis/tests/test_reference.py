# SPDX-License-Identifier: BSD-3-Clause
"""Sessions of every age go on loading, being decided and being drawn: all of results/reference that have records."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from analysis.benchmarks import beside
from analysis.catalogue import draw_all
from analysis.claims.table import build
from analysis.evidence import Evidence
from analysis.records.load import load
from analysis.report.findings import sections
from analysis.report.points import Points
from analysis.report.report import pictures

REFERENCE = Path(__file__).resolve().parents[2] / "results" / "reference"
# One that was kept for its trace has no bare, beside which a figure would put anything; the engine's costs have no
# study; each of the sessions of SCALING has one number of ranks, and their figure is of all of them; what a model had
# predicted has a page in place of figures, held by harness/tests/test_model_points.py.
SCALING, PREDICTED = "scaling", "validation-"
SESSIONS = sorted(
    str(file.parent.relative_to(REFERENCE))
    for file in REFERENCE.rglob("session.json")
    if not file.with_name(beside.KEPT).exists()
    and not file.with_name("costs").exists()
    and file.parent.parent != REFERENCE / SCALING
    and not file.parent.name.startswith(PREDICTED)
)
# Some that are drawn in seconds; with --full all are.
SOME = (
    "context-switches",
    "cross-check-ping-pong",
    "demo",
    "events-bell",
    "fft-448-ranks",
    "gate-timer",
    "miwa",
    "model-fit-vcluster-2/part-6",
    "overlap",
    "ult",
)


# Gates of the group harm, whose figure is a table: theirs is the verdict; and a sweep without bare.
NOTHING_TO_DRAW = {"gate-minife-solve", "gate-minighost-exchange", "gate-minighost-since-340feb1", "tuning-grid"}


def test_those_that_are_drawn_always_are_kept() -> None:
    assert set(SOME) <= set(SESSIONS)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in SOME else pytest.mark.full) for name in SESSIONS]
)
def test_a_reference_session_loads_is_decided_and_draws(name: str) -> None:
    records = load([REFERENCE / name], use_cache=False)
    assert not records.problems
    evidence = Evidence(records)
    drawn = draw_all(evidence, "")
    assert bool(drawn) == (name not in NOTHING_TO_DRAW)
    table = build(records, evidence.metrics)
    assert any(row.session or row.reason for row in table.rows), "a claim has a number, or says why not"
    placed = [index for section in sections(table, evidence, drawn) for index in section.drawn]
    assert sorted(placed) == list(range(len(drawn))), "every figure stands under its study"
    points = Points(records, REFERENCE / name, evidence.choice)
    for picture in pictures(drawn, points):
        rows = picture["table"].rows
        assert picture["chart"].svg.count("<a href=") == len(rows) > 0
        assert all(row.files >= 0 for row in rows), f"{picture['name']}: every point has its raw records"
    for file in (REFERENCE / name / "figures").glob("*.csv"):
        now = next(figure.points for figure in drawn if figure.name == file.stem)
        assert now.to_csv(index=False).splitlines() == file.read_text().splitlines()


@pytest.mark.full
def test_the_sessions_of_scaling_draw_their_figure_together() -> None:
    records = load(sorted((REFERENCE / SCALING).iterdir()), use_cache=False)
    assert not records.problems
    assert {figure.name for figure in draw_all(Evidence(records), "")}


def test_a_folder_of_record_files_without_a_session_loads() -> None:
    records = load([REFERENCE / "roofline"], use_cache=False)
    assert len(records.launches) == len(list((REFERENCE / "roofline").glob("*.jsonl")))
    assert isinstance(records.samples, pd.DataFrame)
