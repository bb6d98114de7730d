# SPDX-License-Identifier: BSD-3-Clause
"""Tests are sound beside other work: .ci/beside_load, and with --full what is most sensitive to it.

Five whole runs, which the script makes by itself, would take --full hours.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.base import process
from harness.base.paths import ROOT
from harness.commands.test import ASAN, ctest, groups
from harness.tests.waiting import eventually

SCRIPT = str(ROOT / ".ci" / "beside_load")
SPIN = 'pgrep --count --full "^bash -c while :; do :; done spins for $PPID$"'  # said by a child of the script


def script(*words: str) -> process.Answer:
    return process.answer([SCRIPT, *words], None, dict(os.environ))


def test_one_process_spins_on_each_cpu_until_the_end(tmp_path: Path) -> None:
    cpus = len(os.sched_getaffinity(0))
    counted = (
        f"for look in $(seq 600); do count=$({SPIN}); [ $count -ge {cpus} ] && break; sleep 0.1; done; echo $count"
    )
    said = script("-n", "2", "sh", "-c", f"echo $PPID > {tmp_path}/pid; {counted}")
    assert said.status == 0, said
    assert [line for line in said.out.splitlines() if line.isdigit()] == [str(cpus)] * 2
    pid = (tmp_path / "pid").read_text().strip()
    left = ["pgrep", "--full", f"spins for {pid}$"]
    assert eventually(lambda: subprocess.run(left, capture_output=True, check=False).returncode == 1)


def test_it_stops_at_the_first_failure_and_has_its_status(tmp_path: Path) -> None:
    said = script("sh", "-c", f"echo >> {tmp_path}/runs; [ $(wc -l < {tmp_path}/runs) -lt 2 ] || exit 7")
    assert said.status == 7
    assert (tmp_path / "runs").read_text().count("\n") == 2
    assert "2 of 5 beside" in said.out


@pytest.mark.parametrize("words", [("-n",), ("-n", "0", "true"), ("-n", "many", "true")])
def test_a_wrong_number_is_one_sentence(words: tuple[str, ...]) -> None:
    said = script(*words)
    assert (said.status, said.err) == (2, "beside_load: -n: a number from 1 on is wanted\n")


SENSITIVE = [
    "harness/tests/test_launch.py",
    "harness/tests/test_process.py",
    "harness/vcluster/tests",
    "progress_engine/tests",
    "workloads/tests/test_benchmarks.py",
    "workloads/tests/test_microbench.py",
    "workloads/tests/test_roofline.py",
]


@pytest.mark.full
@pytest.mark.alone
@pytest.mark.mpi
@pytest.mark.timeout(1500)
@pytest.mark.parametrize(("what", "times"), [("unit tests", 3), ("launches", 1)])
def test_what_waits_for_threads_nodes_and_launches_is_sound(what: str, times: int) -> None:
    """By default it runs so: side by side, without what --full adds."""
    together = groups(fast=False, full=False)["tests"]
    tests = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *together, *SENSITIVE]
    said = script("-n", str(times), *(ctest(ASAN) if what == "unit tests" else tests))
    assert said.status == 0, said.out[-20000:] + said.err[-2000:]
