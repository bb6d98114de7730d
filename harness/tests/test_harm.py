# SPDX-License-Identifier: BSD-3-Clause
"""What ./bench harm covers and what it calls harm."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.harm.cover import workloads
from harness.harm.measure import compared
from harness.harm.table import harmed, markdown

PROGRAM = """#!/bin/sh
case "$*" in
  --list) echo "stencil  Does it?"; echo "wave  And this?";;
  "stencil --list-parameters"|"wave --list-parameters") echo '%s';;
  *) exit 2;;
esac
"""
PARAMETERS = [
    {"name": "size_bytes", "type": "integer", "minimum": 0, "default": None},
    {"name": "cells", "type": "integer", "minimum": 0, "default": None},
    {"name": "pattern", "type": "string", "choices": ["both", "one"], "default": None},
    {"name": "rounds", "type": "integer", "minimum": 1, "default": 7},
]


def piece(ratio: float, quantity: str = "total_s", bare: float = 0.01) -> dict[str, Any]:
    about = {"cpu_model": "a CPU", "cpus": 2, "cores": 2, "kernel": "6.1", "virtual_machine": True}
    samples = {"bare": [[bare] * 3] * 6, "adaptive": [[bare * ratio] * 3] * 6}
    return {
        "workload": "stencil wave", "point": {}, "quantity": quantity, "mpi": "mpich", "ranks": 2, "system": "vcluster",
        "network": "1 Gb/s", "time": "now", "machine": about, "command": "./bench harm", "samples": samples,
        "failures": {"idle": "no idle cores"},
    }  # fmt: skip


def test_a_program_that_lists_its_benchmarks_is_covered(tmp_path: Path) -> None:
    for name, text in {"waves": PROGRAM % json.dumps(PARAMETERS), "tool": "#!/bin/sh\nexit 2\n"}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(stat.S_IRWXU)
    found = workloads(tmp_path)
    assert [workload.name for workload in found] == ["waves stencil", "waves wave"]
    assert found[0].point == {"size_bytes": 1 << 20, "cells": 1, "pattern": "both", "rounds": 7}


@pytest.mark.parametrize(
    ("ratio", "bare", "harm"),
    [(1.01, 0.01, False), (1.05, 0.01, True), (1.05, 1e-6, False), (1.2, 1e-6, True), (1.05, 3e-8, True)],
)
def test_harm_is_more_than_two_percent_and_more_than_a_latencys_budget(ratio: float, bare: float, harm: bool) -> None:
    assert bool(harmed([piece(ratio, bare=bare)], "adaptive")) == harm


def test_of_a_rate_less_is_slower() -> None:
    assert harmed([piece(0.9, "bytes_per_s", bare=1e10)], "adaptive")
    assert not harmed([piece(1.1, "bytes_per_s", bare=1e10)], "adaptive")


def test_the_whole_time_is_compared_where_there_is_one() -> None:
    assert compared({"comp_s": [1.0], "total_s": [2.0]}) == ("total_s", [2.0])
    assert compared({"comp_s": [1.0], "mflops": [2.0]}) == ("comp_s", [1.0])


def test_the_table_says_what_failed_and_how_it_was_measured() -> None:
    text = markdown([piece(1.05)])
    assert "| stencil wave | mpich | total_s | 0.01 | 1.050 [1.050, 1.050] harmed | failed |" in text
    assert "stencil wave on mpich, idle: no idle cores" in text and "6 launches a variant" in text


def test_wrong_calls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["harm", "--table-only", "--data", str(tmp_path)]) == 2
    assert "holds no samples" in capsys.readouterr().err
    assert main(["harm", "--variant", "fast"]) == 2


@pytest.mark.mpi
@pytest.mark.full
def test_a_workload_is_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["harm", "--mpi", "mpich", "--variant", "off", "--only", "microbench latency", "--system", "local"]
    assert main([*words, "--launches", "1", "--data", str(tmp_path)]) == 0
    assert "| microbench latency | mpich | batch_median_s |" in capsys.readouterr().out
