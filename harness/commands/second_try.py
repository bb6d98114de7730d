# SPDX-License-Identifier: BSD-3-Clause
"""Tests that failed side by side run once more, alone.

On a busy machine a time limit can pass that is long enough for one test by itself. Which tests needed it is said at
the end, so that nobody takes them for sound.

The unit tests in C++ have no second try: a race that a sanitizer sees in one run of two is a race.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from pathlib import Path

from harness.base import process
from harness.base.paths import ROOT

# More than these do not fail from a busy machine.
MOST = 5
FAILED = 1  # pytest's status where tests failed, and nothing worse happened


def run_group(options: list[str], report: Path) -> tuple[int, list[str]]:
    """pytest's status for the tests that `options` choose, and those that needed a second try to pass."""
    status = _pytest(options, report)
    names = failed(report) if status == FAILED else []
    if not 0 < len(names) <= MOST:
        return status, []
    print(f"once more, alone: {', '.join(names)}", flush=True)
    status = _pytest(alone(options), report.with_name(f"{report.stem}-again.xml"))
    return status, [] if status else names


def _pytest(options: list[str], report: Path) -> int:
    """With the longest tests at its end: they say what to shorten, where all take too long."""
    longest = ["--durations=12", "--durations-min=10"]
    command = [sys.executable, "-m", "pytest", f"--junitxml={report}", "-q", *longest, *options]
    return process.attended(command, cwd=ROOT)


def failed(report: Path) -> list[str]:
    """The tests of a JUnit report that failed, or could not be set up, by name."""
    cases = ET.parse(report).iter("testcase")
    bad = (case for case in cases if case.find("failure") is not None or case.find("error") is not None)
    return sorted({f"{case.get('classname')}.{case.get('name')}" for case in bad})


def alone(options: list[str]) -> list[str]:
    """Of `options` those that choose tests, and of these what failed last, one after the other."""
    chosen = [option for option in options if not option.startswith(("--numprocesses", "--dist", "--no-loadscope"))]
    return [*chosen, "--last-failed", "--last-failed-no-failures=none"]


def told(names: list[str]) -> str:
    """What is said of tests that passed at their second try; nothing where there are none."""
    if not names:
        return ""
    return f"NOT SOUND: failed side by side, passed alone (their first failure is above): {', '.join(names)}"
