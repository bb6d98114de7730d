# SPDX-License-Identifier: BSD-3-Clause
"""The table of the engine's costs: budgets against benchmarks, pieces against budgets."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.costs.budgets import BASE, BUDGETS, PARTS, Budget
from harness.costs.table import markdown, measured, verdict
from harness.mpis import MPIS
from harness.paths import ROOT

SOURCES = {"core": ("core_costs.cpp", "doorbell_costs.cpp", "offload_costs.cpp"), "calls": ("call_costs.cpp",)}


def piece(part: str, samples: dict[str, dict[str, list[list[float]]]]) -> dict[str, Any]:
    about = {"cpu_model": "a CPU", "cpus": 2, "cores": 2, "kernel": "6.1", "virtual_machine": True}
    mpi = "" if part == "core" else "mpich"
    return {"part": part, "mpi": mpi, "command": "./bench", "time": "now", "machine": about, "samples": samples}


@pytest.mark.parametrize("part", SOURCES)
def test_every_benchmark_has_its_row_and_every_row_its_benchmark(part: str) -> None:
    folder = ROOT / "progress_engine" / "benchmarks"
    source = "".join((folder / name).read_text() for name in SOURCES[part])
    assert set(re.findall(r"^BENCHMARK\((\w+)\)", source, re.MULTILINE)) == {
        budget.benchmark for budget in BUDGETS if budget.part == part
    }


def test_an_mpis_row_is_the_difference_from_the_same_pieces_base() -> None:
    budget = Budget("blocking call", "calls", "blocking_call", 5, "adaptive")
    fast, slow = [[10.0, 10.0, 10.0]] * 6, [[14.0, 14.0, 14.0]] * 6
    found = measured(budget, piece("calls", {BASE: {"blocking_call": fast}, "adaptive": {"blocking_call": slow}}))
    assert found is not None and found.value == pytest.approx(4)
    assert verdict(5, found) == "met" and verdict(3, found) == "missed"


def test_an_interval_over_the_budget_is_unclear() -> None:
    budget = Budget("wake", "core", "wake_parked", 1500)
    launches = [[1300.0], [1350.0], [1400.0], [1450.0], [1600.0], [1700.0]]
    found = measured(budget, piece("core", {"": {"wake_parked": launches}}))
    assert found is not None and verdict(1500, found) == "unclear (met at the median)"


def test_the_table_names_machine_command_and_samples() -> None:
    text = markdown([piece("core", {"": {"submit": [[5.0, 6.0]] * 3}})])
    assert "| submit a task |  | 5.5 [" in text
    assert "a CPU, 2 cores, 2 CPUs, a virtual machine, Linux 6.1; 3 launches of 2 samples" in text
    assert PARTS["calls"] not in text.lower()


def test_wrong_calls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["engine-costs", "--part", "cache"]) == 2
    assert "no part 'cache'" in capsys.readouterr().err
    assert main(["engine-costs", "--table-only", "--data", str(tmp_path)]) == 2
    assert "holds no samples" in capsys.readouterr().err


@pytest.mark.mpi
@pytest.mark.full
def test_the_programs_measure_every_row(tmp_path: Path) -> None:
    if not MPIS["mpich"].installed():
        pytest.skip("MPICH (PyPI) is not installed")
    out = tmp_path / "costs.md"
    arguments = ["engine-costs", "--mpi", "mpich", "--launches", "1", "--data", str(tmp_path), "--out", str(out)]
    assert main(arguments) == 0
    rows = [line for line in out.read_text().splitlines() if re.match(r"\| (?!path|---)", line)]
    assert len(rows) == len(BUDGETS)
    assert len(json.loads((tmp_path / "ping-pong.mpich.json").read_text())["samples"]) == 6
