# SPDX-License-Identifier: BSD-3-Clause
"""The table of the engine's costs: budgets against benchmarks, sessions against budgets."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from analysis.budgets import BASE, BUDGETS, PARTS, Budget
from analysis.catalogue import draw_all
from analysis.claims.table import table
from analysis.evidence import Evidence
from analysis.records.load import load
from analysis.studies.costs import FOLDER, STUDY, Piece, document, measured, verdict
from analysis.tests.test_claims import rows_of, study_session

ENGINE = Path(__file__).resolve().parents[2] / "progress_engine"
SOURCES = {
    "core": ("core_costs.cpp", "doorbell_costs.cpp", "offload_costs.cpp"),
    "calls": ("call_costs.cpp",),
    "instructions": ("call_costs.cpp",),
}
# Registered by the library's macro, or a row of the table of paths: {"blocking_call", blocking_call}
REGISTERED = re.compile(r"""^BENCHMARK\((\w+)\)|\{"(\w+)", \2\}""", re.MULTILINE)


@pytest.mark.parametrize("part", SOURCES)
def test_every_benchmark_has_its_row_and_every_row_its_benchmark(part: str) -> None:
    source = "".join((ENGINE / "benchmarks" / name).read_text() for name in SOURCES[part])
    names = {found[1] or found[2] for found in REGISTERED.finditer(source)}
    assert names == {budget.benchmark for budget in BUDGETS if budget.part == part}


def test_an_mpis_row_is_the_difference_from_the_same_sessions_base() -> None:
    budget = Budget("blocking call", "calls", "blocking_call", 5, "adaptive")
    fast, slow = [[10.0, 10.0, 10.0]] * 6, [[14.0, 14.0, 14.0]] * 6
    found = measured(
        budget, Piece("calls", "mpich", {BASE: {"blocking_call": fast}, "adaptive": {"blocking_call": slow}})
    )
    assert found is not None and found.value == pytest.approx(4)
    assert verdict(5, found) == "met" and verdict(3, found) == "missed"


def test_an_interval_over_the_budget_is_unclear() -> None:
    budget = Budget("wake", "core", "wake_parked", 1500)
    launches = [[1300.0], [1350.0], [1400.0], [1450.0], [1600.0], [1700.0]]
    found = measured(budget, Piece("core", "", {"": {"wake_parked": launches}}))
    assert found is not None and verdict(1500, found) == "unclear (met at the median)"


@pytest.mark.parametrize("launches", [1, 3])
def test_too_few_launches_meet_and_miss_nothing(launches: int) -> None:
    budget = Budget("wake", "core", "wake_parked", 1500)
    found = measured(budget, Piece("core", "", {"": {"wake_parked": [[1300.0, 1310.0, 1320.0]] * launches}}))
    assert found is not None
    assert verdict(1500, found) == verdict(100, found) == "cannot tell: too few launches"
    assert verdict(None, found) == "", "no budget"


def test_a_disturbed_machine_meets_and_misses_nothing(tmp_path: Path) -> None:
    stolen = {"noise": {"steal_s": 1e-7}}
    points = {name: [line | stolen for line in ping_pong(ns)] for name, ns in ((BASE, 500), ("adaptive", 550))}
    text = document(Evidence(load([study_session(tmp_path / "s", STUDY, points)])))
    assert "| adaptive | 100 | 50.0 [50.0, 50.0] | cannot tell: the machine was disturbed |" in text
    assert "- mpich: the machine was disturbed: the hypervisor took " in text


def ping_pong(nanoseconds: float) -> list[dict[str, Any]]:
    return [{"point": {"size_bytes": 1}, "samples": {"batch_median_s": [nanoseconds * 1e-9] * 3}}]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A ping-pong whose `idle` failed, and the engine's parts."""
    points = {BASE: ping_pong(500), "adaptive": ping_pong(550), "timer": ping_pong(800)}
    points["idle"] = [{"point": {"size_bytes": 1}, "status": "failed", "reason": "the engine did not run on rank 1"}]
    made = study_session(tmp_path / "s", STUDY, points)
    (made / FOLDER).mkdir()
    core = {"part": "core", "mpi": "", "samples": {"": {"submit": [[5.0, 6.0]] * 3}}}
    (made / FOLDER / "core.json").write_text(json.dumps(core))
    return made


def test_one_session_holds_the_ping_pong_and_the_parts(session: Path) -> None:
    text = document(Evidence(load([session])))
    assert "| submit a task |  | 5.5 [" in text
    assert "| 1-byte ping-pong | mpich | adaptive | 100 | 50.0 [50.0, 50.0] | met |" in text
    assert "| 1-byte ping-pong | mpich | timer |  | 300 [300, 300] |  |" in text
    assert PARTS["calls"] not in text.lower()


def test_the_report_has_a_figure_and_decides_the_budget(session: Path) -> None:
    (drawn,) = draw_all(Evidence(load([session])), "Data: made up.")
    assert (drawn.name, drawn.chapter) == ("engine_costs", "C1")
    assert set(drawn.points["variant"]) == {"adaptive", "timer", "idle"}
    (row,) = rows_of(table([session]), "C1")
    assert row.decision == "reproduced"
    assert row.value == pytest.approx(50)


def test_an_engine_that_stood_down_costs_nothing_that_counts(session: Path) -> None:
    text = document(Evidence(load([session])))
    assert "| 1-byte ping-pong | mpich | idle |  | failed |  |" in text
    assert "- mpich, idle: failed: the engine did not run on rank 1" in text
