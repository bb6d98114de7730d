# SPDX-License-Identifier: BSD-3-Clause
"""./bench test: all tests, and what was skipped."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from harness.errors import Failure, UsageError
from harness.mpis import MPIS, WHEEL_MPIS
from harness.paths import BUILD_DIR, ROOT, STATE_DIR, VENV
from harness.setup import build, environment, packages
from harness.setup import mpi as mpi_setup


@dataclass(frozen=True)
class Sanitizer:
    """A preset of CMakePresets.json: what of it is built, and the label of the unit tests that are run."""

    preset: str
    targets: tuple[str, ...]
    label: str = "unit"


# The library is for the tests that run MPI programs with it. Threads meet in the engine's core: the other unit tests
# have nothing that ThreadSanitizer could find, and the library with it takes long to build.
ASAN_FAST = Sanitizer("asan", ("engine_tests", "workloads_unit_tests"))
ASAN = Sanitizer("asan", (*ASAN_FAST.targets, "progress_engine"))
TSAN = Sanitizer("tsan", ("engine_core_tests",), "unit-core")
FULL = (Sanitizer("asan", ("all",)), Sanitizer("tsan", ("all",)))

# Nothing of this is timed or has the machine for itself: these tests run side by side.
SIDE_BY_SIDE = "not (mpi or vcluster or slurm or spack or slow or full)"
NO_TESTS = 5  # pytest's status; itself it is not here unless ./bench test has installed it


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
    for purpose in () if fast else ("Debian's MPIs", *(["emulator"] if full else [])):
        with contextlib.suppress(Failure):  # not every machine has it: its test says what is missing
            packages.ensure(purpose)
    environment.ensure_dev()
    mpi_setup.ensure(*(MPIS[name] for name in WHEEL_MPIS))
    for name in WHEEL_MPIS:
        build.ensure(MPIS[name])
    for mpi in () if fast else MPIS.values():  # Debian's: for the engine's tests and one run
        if not mpi.wheels and mpi.installed():
            build.ensure(mpi, "progress_engine/all", "microbench")
    statuses = []
    for sanitizer in () if select else (ASAN_FAST,) if fast else FULL if full else (ASAN, TSAN):
        build.build_preset(sanitizer.preset, MPIS["mpich"], sanitizer.targets)
        statuses.append(_unit_tests(sanitizer))
    chosen = ["-k", select] if select else []
    reports = {STATE_DIR / f"tests-{number}.xml": group for number, group in enumerate(groups(fast, full), 1)}
    statuses.append(verdict([_pytest([*group, *chosen], report) for report, group in reports.items()]))
    print(skipped(reports, fast, full))
    return 1 if any(statuses) else 0


def verdict(ends: list[int]) -> int:
    """The status for those of pytest: a group may have no test of the chosen names, but not every group."""
    told = [status for status in ends if status != NO_TESTS]
    return 0 if told and not any(told) else 1


def groups(fast: bool, full: bool) -> list[list[str]]:
    """The runs of pytest, each by its options: what may run side by side, and then the others."""
    together = ["-m", SIDE_BY_SIDE, "--numprocesses=logical", "--maxprocesses=8", "--dist=loadscope"]
    others = ["-m", f"not ({SIDE_BY_SIDE})" + ("" if full else " and not full")]
    return [together] if fast else [together, others]


def _unit_tests(sanitizer: Sanitizer) -> int:
    folder = BUILD_DIR / sanitizer.preset
    ctest = [str(VENV / "bin" / "ctest"), "--test-dir", str(folder), "-L", sanitizer.label, "--output-on-failure"]
    print(f"C++ unit tests, build/{sanitizer.preset}:", flush=True)
    return subprocess.run([*ctest, "--timeout", "120", "--no-tests=error"], check=False).returncode


def _pytest(options: list[str], report: Path) -> int:
    command = [sys.executable, "-m", "pytest", f"--junitxml={report}", "-q", *options]
    return subprocess.run(command, cwd=ROOT, env=dict(os.environ), check=False).returncode


def skipped(reports: Iterable[Path], fast: bool, full: bool) -> str:
    """The last line: what was left out, and why."""
    cases = (case for report in reports for case in ET.parse(report).iter("skipped"))
    reasons = Counter(case.get("message") or "no reason given" for case in cases)
    words = [f"{count} x {reason}" for reason, count in sorted(reasons.items())]
    if fast:
        words.append("all tests with MPIs, virtual nodes and ThreadSanitizer (--fast)")
    elif not full:
        words.append("the long ones (they run with --full)")
    return "skipped: " + ("; ".join(words) or "nothing")
