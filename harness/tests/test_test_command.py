# SPDX-License-Identifier: BSD-3-Clause
"""Each test runs by default, with --full or --long; what was left out is said; tests beside other work."""

from __future__ import annotations

import itertools
import os
import sys
from pathlib import Path

import pytest

from harness.base import process
from harness.base.paths import ROOT
from harness.commands.test import (
    ASAN,
    DEFAULT,
    FAST,
    FULL,
    LONG,
    NO_TESTS,
    Times,
    builds,
    ctest,
    groups,
    skipped,
    unit_tests,
    verdict,
)

COMMAND = sys.modules["harness.commands.test"]
MARKS = ("mpi", "vcluster", "slurm", "spack", "slow", "alone", "full", "long")
EVERY_COMBINATION = [set(some) for number in range(len(MARKS) + 1) for some in itertools.combinations(MARKS, number)]


def runs(marks: set[str], scope: str) -> int:
    """How often a test with these marks runs."""
    expressions = [group[group.index("-m") + 1] for group in groups(scope).values()]
    return sum(bool(eval(words, {name: name in marks for name in MARKS})) for words in expressions)


def test_each_test_runs_once() -> None:
    """Those that need the machine for themselves after the others, one by one."""
    for marks in EVERY_COMBINATION:
        assert runs(marks, FULL) + runs(marks, LONG) == 1
        assert runs(marks, DEFAULT) == (not marks & {"full", "alone", "long"})
        assert runs(marks, FAST) == (not marks)
    assert ["--dist=loadscope" in group for group in groups(FULL).values()] == [True, False]


def test_what_is_built_and_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = (builds(scope, unit_tests(scope, sanitizers=True)) for scope in (DEFAULT, FULL))
    some, all_ = ({one.preset: one.targets for one in each} for each in wanted)
    assert (some["mpich"][0], some["asan"]) == ("all", ["engine_tests"]) and "npb" not in some["openmpi"]
    assert set(all_["asan"]) == {"engine_tests", "workloads_unit_tests", "progress_engine/all"}
    assert all_["tsan"] == ["engine_tests", "progress_engine/all"]
    assert all_["openmpi"] == ["all", "progress_profile"]
    assert some["standard-abi"] == ["progress_engine/all"]
    assert [len(unit_tests(DEFAULT, sanitizers)) for sanitizers in (False, True)] == [0, 3]
    assert [(one.preset, one.targets) for one in builds(FAST, ())] == [("mpich", ["progress_engine/all"])]
    asked: list[str] = []
    monkeypatch.setattr(COMMAND.environment, "ensure_packages", lambda *purposes: asked.extend(purposes))
    monkeypatch.setattr(COMMAND.environment, "ensure_group", asked.append)
    monkeypatch.setattr(COMMAND, "ensure_mpis", lambda *_: None)
    COMMAND._set_up(whole=False)
    assert "dev" in asked and not {"simulator", "browser"} & set(asked)
    COMMAND._set_up(whole=True)
    assert {"simulator", "full tests", "instruction counts", "Debian's MPIs", "browser", "notebooks"} <= set(asked)


@pytest.mark.parametrize("status", [0, 8])
def test_unit_tests_run_beside_the_others_and_are_told_after_them(
    status: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(COMMAND, "ctest", lambda tests: ["sh", "-c", f"echo told; exit {status}", tests.preset])
    with COMMAND._in_the_background(unit_tests(DEFAULT, sanitizers=True)) as statuses:
        print("the others")
    assert statuses == [status] * 3
    said = capfd.readouterr().out.split()
    assert said[:2] == ["the", "others"] and said.count("told") == 3


def test_what_is_said_at_the_end(tmp_path: Path) -> None:
    """Words that one group lacks are no failure, but words that all lack are."""
    ends = {(0, 0): 0, (NO_TESTS, 0): 0, (0, NO_TESTS): 0, (NO_TESTS, NO_TESTS): 1, (0, 1): 1}
    assert {statuses: verdict(list(statuses)) for statuses in ends} == ends
    times = Times()
    for part in ("build/mpich", "tests", "tests", "nothing"):
        with times.of(part):
            pass
    times.wall_s |= {"build/mpich": 80.4, "tests": 9.6}
    times.cpu_s["build/mpich"] += 150.6
    assert str(times) == "took 90 s, in brackets of CPU time: build/mpich 80 s (151), tests 10 s (0)"
    reports = [tmp_path / "one.xml", tmp_path / "two.xml"]
    case = '<testcase name="t"><skipped message="{}"/></testcase>'
    reports[0].write_text(f"<testsuites>{case.format('no Spack')}{case.format('no root')}</testsuites>")
    reports[1].write_text(f"<testsuites>{case.format('no Spack')}</testsuites>")
    assert skipped(reports, LONG, unit=True) == "skipped: 2 x no Spack; 1 x no root"
    assert skipped(reports, FULL, unit=True).endswith("(it runs with --long)")
    assert skipped(reports, DEFAULT, unit=True).endswith("(it runs with --full and --long)")
    assert "virtual nodes" in skipped(reports, FAST, unit=False)


SENSITIVE = [
    "harness/tests/test_launch.py",
    "harness/tests/test_process.py",
    "harness/vcluster/tests",
    *(f"progress_engine/tests/test_{name}.py" for name in ("early", "events", "lifecycle", "on_mpis", "threads")),
]


def script(*words: str) -> process.Answer:
    return process.answer([str(ROOT / ".ci" / "beside_load"), *words], None, dict(os.environ))


@pytest.mark.full
@pytest.mark.alone
@pytest.mark.mpi
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("what", ["unit tests", "launches"])
def test_what_waits_for_threads_nodes_and_launches_is_sound(what: str) -> None:
    """By default it runs so: side by side, without what --full adds."""
    together = groups(DEFAULT)["tests"]
    tests = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *together, *SENSITIVE]
    said = script("-n", "1", *(ctest(ASAN) if what == "unit tests" else tests))
    assert said.status == 0, said.out[-20000:] + said.err[-2000:]
