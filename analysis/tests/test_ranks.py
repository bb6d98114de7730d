# SPDX-License-Identifier: BSD-3-Clause
"""Sessions of many ranks: twice the ranks are twice the work and no more, counted in calls, since times vary."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from analysis.catalogue import draw_all
from analysis.evidence import Evidence
from analysis.figures import toolkit
from analysis.records import nodes
from analysis.records.load import Records, load
from analysis.records.read import BadLine, Shapes, sample_of
from analysis.report.report import render
from analysis.report.verdict import verdict
from analysis.tests.many_ranks import make

RANKS = (16, 32, 64, 128)
LINEAR = 2.0  # how the growth of the count grows with each doubling; of a quadratic step 4


def calls_of(action: Callable[[], Any]) -> int:
    """How many functions, of Python and of C, are called in `action`."""
    count = 0

    def called(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count


def growth(counts: list[int]) -> list[float]:
    """What does not depend on the ranks is left out."""
    more = [after - before for before, after in itertools.pairwise(counts)]
    return [after / before for before, after in itertools.pairwise(more)]


@pytest.mark.full
def test_twice_the_ranks_are_twice_the_work(tmp_path: Path) -> None:
    loaded, summarised, drawn = [], [], []
    _draw(load([make(tmp_path / "first", RANKS[0])]), tmp_path / "first")  # what is remembered
    for ranks in RANKS:
        session = make(tmp_path / str(ranks), ranks)
        assert len(list((session / "records").iterdir())) == 12, "a file a launch, not a rank"
        found: list[Any] = []
        load([session])  # what is imported or remembered at the first time is not counted
        loaded.append(calls_of(lambda: found.append(load([session]))))  # noqa: B023
        records = found[0]
        assert not records.problems
        assert set(records.launches["world_size"]) == {ranks}
        assert len(records.points) == 12 * ranks
        Evidence(records).metrics  # noqa: B018
        summarised.append(calls_of(lambda: (Evidence(records).metrics, records.cautions())))  # noqa: B023
        drawn.append(calls_of(lambda: _draw(records, session)))  # noqa: B023
    for steps in (loaded, summarised, drawn):
        assert growth(steps) == pytest.approx([LINEAR] * 2, rel=0.15)


def _draw(records: Records, session: Path) -> None:
    """Every figure, and the page."""
    evidence = Evidence(records)
    figures = draw_all(evidence, toolkit.provenance(records))
    assert figures
    render(evidence, verdict(evidence.metrics), figures, session)


def test_one_rank_of_many_that_does_not_obey_the_schema_is_found(tmp_path: Path) -> None:
    records = load([make(tmp_path / "s", 64)])
    assert set(records.launches["world_size"]) == {64}
    ranks = [{"rank": rank, "host": "a", "cpus_allowed": [rank], "clock_resolution_s": 0.0} for rank in range(64)]
    assert len(sample_of({"ranks": ranks})["ranks"]) == 2  # 0 has a sign of its own
    ranks[40] |= {"clock_resolution_s": "x"}
    header = {"schema": 4, "context": {}, "workload": {"name": "w", "version": "1"}, "quantities": {}, "arguments": []}
    header |= {"mpi_library": "m", "thread_level": None, "world_size": 64, "ranks": ranks, "start_time": "now"}
    with pytest.raises(BadLine, match=r"ranks\.40\.clock_resolution_s"):
        Shapes().check("header", header)


def test_a_sentence_names_some_of_many_nodes() -> None:
    described = [{"host": f"n{i}", "kernel": str(i % 2)} for i in range(1000)]
    (said,) = nodes.cautions({"session": "s", "nodes": described, "undescribed": []})
    assert "and 492 more" in said
    assert len(said) < 300
