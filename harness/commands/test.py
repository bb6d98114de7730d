# SPDX-License-Identifier: BSD-3-Clause
"""./bench test: all tests, and what was skipped."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Annotated

import typer

from harness.errors import Failure, UsageError
from harness.mpis import MPIS, WHEEL_MPIS
from harness.paths import BUILD_DIR, ROOT, STATE_DIR, VENV
from harness.setup import build, environment, packages
from harness.setup import mpi as mpi_setup

SANITIZERS = ("asan", "tsan")


def test(
    fast: Annotated[bool, typer.Option("--fast", help="Only what takes seconds: no MPI, no virtual nodes.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Also what takes long.")] = False,
    select: Annotated[
        str, typer.Option("-k", metavar="WORDS", help="Only tests whose names match (pytest's -k).")
    ] = "",
) -> int:
    """Set up what the tests need and run them: C++ unit tests (with sanitizers), Python, real MPIs, virtual nodes.

    Example: ./bench test --fast
    """
    if fast and full:
        raise UsageError("--fast and --full exclude each other.")
    packages.ensure("build", "vcluster", "slurm", "test", *(["full tests"] if full else []))
    if full:
        with contextlib.suppress(Failure):  # not every machine's system has it: its test says what is missing
            packages.ensure("emulator")
    environment.ensure_dev()
    mpi_setup.ensure(*(MPIS[name] for name in WHEEL_MPIS))
    for name in WHEEL_MPIS:
        build.ensure(MPIS[name])
    for mpi in MPIS.values() if full else ():  # Debian's: for the engine's tests alone
        if not mpi.wheels:
            build.ensure(mpi, "progress_engine/all")
    statuses = []
    for preset in () if select else SANITIZERS[:1] if fast else SANITIZERS:
        build.build_preset(preset, MPIS["mpich"])
        statuses.append(_unit_tests(preset))
    report = STATE_DIR / "tests.xml"
    statuses.append(_pytest(fast, full, select, report))
    print(skipped(report, fast, full))
    return 1 if any(statuses) else 0


def _unit_tests(preset: str) -> int:
    ctest = [str(VENV / "bin" / "ctest"), "--test-dir", str(BUILD_DIR / preset), "-L", "unit", "--output-on-failure"]
    print(f"C++ unit tests, build/{preset}:", flush=True)
    return subprocess.run([*ctest, "--timeout", "120", "--no-tests=error"], check=False).returncode


def _pytest(fast: bool, full: bool, select: str, report: Path) -> int:
    marks = "not (mpi or vcluster or slurm or spack or slow or full)" if fast else "" if full else "not full"
    command = [sys.executable, "-m", "pytest", f"--junitxml={report}", "-q"]
    command += ["-m", marks] if marks else []
    command += ["-k", select] if select else []
    return subprocess.run(command, cwd=ROOT, env=dict(os.environ), check=False).returncode


def skipped(report: Path, fast: bool, full: bool) -> str:
    """The last line: what was left out, and why."""
    reasons: dict[str, int] = {}
    for case in ET.parse(report).iter("skipped"):
        reason = case.get("message") or "no reason given"
        reasons[reason] = reasons.get(reason, 0) + 1
    words = [f"{count} x {reason}" for reason, count in sorted(reasons.items())]
    if fast:
        words.append("all tests with MPIs, virtual nodes and sanitizers (--fast)")
    elif not full:
        words.append("the long ones (they run with --full)")
    return "skipped: " + ("; ".join(words) or "nothing")
