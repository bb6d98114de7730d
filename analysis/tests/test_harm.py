# SPDX-License-Identifier: BSD-3-Clause
"""What the table of harm calls harm, on made-up records."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.budgets import BASE, BUDGETS, PARTS, Budget
from analysis.claims.table import table
from analysis.evidence import Evidence
from analysis.records.load import load
from analysis.statistics.interval import ratio_of_medians
from analysis.studies import costs
from analysis.studies.costs import FOLDER, STUDY, Piece, measured
from analysis.studies.harm import document, harmed, undecided
from analysis.subject import draw_all
from analysis.tables import Cell, Harm, Row, correct, rows
from analysis.tests.synthetic import changed_points, edited, end, header, write_lines
from analysis.tests.test_claims import rows_of, study_session


def point(quantity: str, value: float, **more: Any) -> dict[str, Any]:
    return {"point": {"nx": 64}, "samples": {"comp_s": [value / 2] * 3, quantity: [value] * 3}, **more}


def made(folder: Path, ratio: float, quantity: str = "total_s", bare: float = 0.01, launches: int = 6) -> Path:
    measured = {"bare": [point(quantity, bare)], "adaptive": [point(quantity, bare * ratio)]}
    return study_session(folder / "s", "harm-stencil-wave", measured, launches)


def verdict(session: Path, variant: str = "adaptive") -> Harm:
    (row,) = rows(Evidence(load([session])))
    return row.cells[variant].harm


@pytest.mark.parametrize(
    ("ratio", "bare", "expected"),
    [
        (1.01, 0.01, Harm.NONE),
        (1.05, 0.01, Harm.HARMED),
        (1.05, 1e-6, Harm.NONE),
        (1.2, 1e-6, Harm.HARMED),
        (1.05, 3e-8, Harm.HARMED),
    ],
)
def test_harm_is_more_than_two_percent_and_more_than_a_latencys_budget(
    tmp_path: Path, ratio: float, bare: float, expected: Harm
) -> None:
    session = made(tmp_path, ratio, bare=bare)
    assert verdict(session) is expected
    assert bool(harmed(rows(Evidence(load([session]))), "adaptive")) == (expected is Harm.HARMED)


@pytest.mark.parametrize(("ratio", "expected"), [(0.9, Harm.HARMED), (1.1, Harm.NONE)])
def test_of_a_rate_less_is_slower(tmp_path: Path, ratio: float, expected: Harm) -> None:
    measured = {name: [point("bytes_per_s", x)] for name, x in {"bare": 1e10, "adaptive": 1e10 * ratio}.items()}
    for points in measured.values():
        del points[0]["samples"]["comp_s"]
    session = study_session(tmp_path / "s", "harm-roofline-triad", measured)
    assert verdict(session) is expected
    assert "| roofline triad | mpich | bytes_per_s | 1e+10 |" in document(Evidence(load([session])))


def test_the_whole_time_is_compared_where_there_is_one_and_else_what_leads(tmp_path: Path) -> None:
    (whole,) = rows(Evidence(load([made(tmp_path / "a", 1.0)])))
    (leading,) = rows(Evidence(load([made(tmp_path / "b", 1.0, "mflops")])))
    assert (whole.quantity, leading.quantity) == ("total_s", "mflops")


def test_a_quantity_of_which_one_side_has_a_histogram_alone_is_not_compared(tmp_path: Path) -> None:
    """A launch with very many samples keeps no series of them."""
    both = {"point": {"nx": 64}, "samples": {"total_s": [0.01] * 3, "elapsed_s": [0.02] * 3}}
    one = {"point": {"nx": 64}, "samples": {"elapsed_s": [0.02] * 3}}
    (row,) = rows(Evidence(load([study_session(tmp_path / "s", "harm-a-b", {"bare": [both], "adaptive": [one]}, 6)])))
    assert (row.quantity, row.cells["adaptive"].harm) == ("elapsed_s", Harm.NONE)


@pytest.mark.parametrize(("better", "expected"), [("higher", Harm.HARMED), ("lower", Harm.NONE)])
def test_what_leads_and_which_way_is_better_is_as_the_records_declare(
    tmp_path: Path, better: str, expected: Harm
) -> None:
    session = made(tmp_path, 0.9, "transfers")
    declared = {"comp_s": ("s", "lower", False), "transfers": ("1", better, True)}
    names = ("unit", "better", "leading")
    for lines in edited(session):
        lines[0]["header"]["quantities"] = {name: dict(zip(names, x, strict=True)) for name, x in declared.items()}
    (row,) = rows(Evidence(load([session])))
    assert (row.quantity, row.cells["adaptive"].harm) == ("transfers", expected)


def test_fewer_launches_than_an_interval_takes_decide_nothing(tmp_path: Path) -> None:
    assert verdict(made(tmp_path, 1.5, launches=5)) is Harm.UNCLEAR
    assert verdict(made(tmp_path / "one", 1.0, launches=1)) is Harm.UNCLEAR


def test_a_launch_of_which_the_engine_stood_down_is_a_failure_whatever_its_time(tmp_path: Path) -> None:
    session = made(tmp_path, 1.0)
    why = "the engine did not run on rank 0: it was switched off"
    changed_points(session, "mpich.adaptive3.jsonl", status="failed", reason=why)
    assert verdict(session) is Harm.FAILED
    text = document(Evidence(load([session])))
    assert "| stencil wave | mpich | total_s | 0.01 | failed |" in text
    assert "- stencil wave on mpich, adaptive: failed: the engine did not run on rank 0" in text


def test_a_result_that_is_wrong_on_one_rank_is_a_failure(tmp_path: Path) -> None:
    session = made(tmp_path, 1.0)
    for lines in edited(session, "mpich.adaptive3.jsonl"):
        lines.insert(2, lines[1] | {"rank": 1, "status": "failed", "reason": "the payload differs"})
    assert verdict(session) is Harm.FAILED


def test_a_launch_that_was_run_again_and_succeeded_counts(tmp_path: Path) -> None:
    session = made(tmp_path, 1.05)
    context = {"study": "harm-stencil-wave", "system": "s", "mpi": "mpich", "variant": "adaptive"}
    failed = {"rank": 0, "status": "failed", "reason": "killed", **point("total_s", 0.01)}
    lines = [header(context | {"launch": "mpich.adaptive0"}), failed, end("adaptive")]
    write_lines(session / "records" / "mpich.adaptive0.r1.jsonl", lines)
    assert verdict(session) is Harm.HARMED


def test_where_bare_failed_there_is_nothing_to_compare_with(tmp_path: Path) -> None:
    bad = [{"point": {"nx": 64}, "status": "failed", "reason": "no memory"}]
    session = study_session(tmp_path / "s", "harm-stencil-wave", {"bare": bad, "adaptive": [point("total_s", 0.01)]})
    text = document(Evidence(load([session])))
    assert "| stencil wave | mpich | total_s | failed | no bare to compare with |" in text
    assert "bare: failed: no memory" in text


def test_the_report_has_a_figure_and_decides_the_promise(tmp_path: Path) -> None:
    measured = {"bare": [point("total_s", 0.01)], "adaptive": [point("total_s", 0.0101)], "idle": []}
    measured["idle"] = [{"point": {"nx": 64}, "status": "failed", "reason": "no idle cores"}]
    session = study_session(tmp_path / "s", "harm-microbench-overlap", measured)
    evidence = Evidence(load([session]))
    (drawn,) = draw_all(evidence, "Data: made up.")
    assert (drawn.name, drawn.subject) == ("harm", "H1")
    assert drawn.found == "Shown to be harmed: none; within the budget: 1, failed: 1."
    assert set(drawn.points["status"]) == {"ok", "failed"}
    (row,) = rows_of(table([session]), "H1")
    assert row.decision == "reproduced"
    assert row.value == pytest.approx(-1.0), "per cent beyond the budget"


def test_a_promise_is_not_kept_by_an_engine_that_stood_down(tmp_path: Path) -> None:
    bad = [{"point": {"nx": 64}, "status": "failed", "reason": "the engine did not run on rank 0"}]
    session = study_session(
        tmp_path / "s", "harm-microbench-overlap", {"bare": [point("total_s", 0.01)], "adaptive": bad}
    )
    (row,) = rows_of(table([session]), "H1")
    assert row.decision == "inconclusive" and "the engine did not run on rank 0" in row.reason


def test_the_table_says_where_it_comes_from(tmp_path: Path) -> None:
    session = made(tmp_path, 1.05)
    facts = {
        "session": "s", "command": ["harm", "--only", "himeno solve"], "system": "vcluster", "network": "1 Gb/s",
        "git": {"commit": "0123456789abcdef"}, "machine": {"cpu_model": "a CPU", "cpus": 2, "kernel": "6.1"},
    }  # fmt: skip
    (session / "session.json").write_text(json.dumps(facts))
    text = document(Evidence(load([session])))
    assert "1.050 [1.050, 1.050] harmed" in text
    assert "session s: `./bench harm --only 'himeno solve'`" in text and "vcluster (1 Gb/s), a CPU" in text
    assert "commit 0123456789ab" in text and "- stencil wave: nx 64" in text


def row_of(ratio: Any) -> Row:
    harm = Harm.HARMED if ratio.defensible and ratio.low > 1.02 else Harm.UNCLEAR
    return Row("w", "", "m", "s", "total_s", False, "s", 1.02, None, {"adaptive": Cell(harm, ratio)})


@pytest.mark.full
def test_an_engine_that_does_nothing_harms_no_workload_of_many() -> None:
    """60 rows of 6 and 6 launches that differ by 10 %: with each row by itself one seems harmed in many sessions."""
    rng = np.random.default_rng(3)
    alone = together = 0
    for _ in range(sessions := 40):
        draws = np.exp(rng.normal(0, 0.1, (60, 2, 6, 1)))
        found = [row_of(ratio_of_medians(list(above), list(below))) for above, below in draws]
        alone += bool(harmed(found, "adaptive"))
        correct(found, "adaptive")
        together += bool(harmed(found, "adaptive"))
    assert together <= 0.05 * sessions < 0.15 * sessions <= alone


def test_what_cannot_be_told_is_counted_with_what_could_have_been_seen(tmp_path: Path) -> None:
    session = made(tmp_path, 1.0)
    for number, lines in enumerate(edited(session, "*.adaptive*")):
        lines[1]["samples"]["total_s"] = [0.01 * (0.97 + 0.015 * number)] * 3
    found = rows(Evidence(load([session])))
    (row,) = found
    cell = row.cells["adaptive"]
    assert cell.ratio and cell.harm is Harm.UNCLEAR
    assert cell.sees == pytest.approx(0.02 + cell.ratio.value - cell.ratio.low)
    assert f"unclear, sees {100 * cell.sees:.1f} %" in document(Evidence(load([session])))
    assert undecided(found, "adaptive").startswith("of 1 of 1 rows it cannot be told; 1 of them could see a loss of ")
    assert undecided(rows(Evidence(load([made(tmp_path / "same", 1.0)]))), "adaptive") == ""


# The table of the engine's costs: budgets against benchmarks, sessions against budgets.
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
    assert costs.verdict(5, found) == "met" and costs.verdict(3, found) == "missed"


def test_an_interval_over_the_budget_is_unclear() -> None:
    budget = Budget("wake", "core", "wake_parked", 1500)
    launches = [[1300.0], [1350.0], [1400.0], [1450.0], [1600.0], [1700.0]]
    found = measured(budget, Piece("core", "", {"": {"wake_parked": launches}}))
    assert found is not None and costs.verdict(1500, found) == "unclear (met at the median)"


@pytest.mark.parametrize("launches", [1, 3])
def test_too_few_launches_meet_and_miss_nothing(launches: int) -> None:
    budget = Budget("wake", "core", "wake_parked", 1500)
    found = measured(budget, Piece("core", "", {"": {"wake_parked": [[1300.0, 1310.0, 1320.0]] * launches}}))
    assert found is not None
    assert costs.verdict(1500, found) == costs.verdict(100, found) == "cannot tell: too few launches"
    assert costs.verdict(None, found) == "", "no budget"


def test_a_disturbed_machine_meets_and_misses_nothing(tmp_path: Path) -> None:
    stolen = {"noise": {"steal_s": 1e-7}}
    points = {name: [line | stolen for line in ping_pong(ns)] for name, ns in ((BASE, 500), ("adaptive", 550))}
    text = costs.document(Evidence(load([study_session(tmp_path / "s", STUDY, points)])))
    assert "| adaptive | 100 | 50.0 [50.0, 50.0] | cannot tell: the machine was disturbed |" in text
    assert "- mpich: the machine was disturbed: something else took " in text


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
    text = costs.document(Evidence(load([session])))
    assert "| submit a task |  | 5.5 [" in text
    assert "| 1-byte ping-pong | mpich | adaptive | 100 | 50.0 [50.0, 50.0] | met |" in text
    assert "| 1-byte ping-pong | mpich | timer |  | 300 [300, 300] |  |" in text
    assert PARTS["calls"] not in text.lower()


def test_the_report_has_a_figure_and_decides_the_budget(session: Path) -> None:
    (drawn,) = draw_all(Evidence(load([session])), "Data: made up.")
    assert (drawn.name, drawn.subject) == ("engine_costs", "C1")
    assert set(drawn.points["variant"]) == {"adaptive", "timer", "idle"}
    (row,) = rows_of(table([session]), "C1")
    assert row.decision == "reproduced"
    assert row.value == pytest.approx(50)


def test_an_engine_that_stood_down_costs_nothing_that_counts(session: Path) -> None:
    text = costs.document(Evidence(load([session])))
    assert "| 1-byte ping-pong | mpich | idle |  | failed |  |" in text
    assert "- mpich, idle: failed: the engine did not run on rank 1" in text
