# SPDX-License-Identifier: BSD-3-Clause
"""./bench test: every test runs by default or with --full, once, and what was left out is said."""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path

import pytest

from conftest import pytest_collection_modifyitems, scope_of
from harness.base.paths import ROOT
from harness.commands.test import NO_TESTS, Times, builds, groups, skipped, unit_tests, verdict

MARKS = ("mpi", "vcluster", "slurm", "spack", "slow", "alone", "full")
EVERY_COMBINATION = [set(some) for number in range(len(MARKS) + 1) for some in itertools.combinations(MARKS, number)]


def runs(marks: set[str], fast: bool = False, full: bool = False) -> int:
    """How often a test with these marks runs."""
    expressions = [group[group.index("-m") + 1] for group in groups(fast, full).values()]
    return sum(bool(eval(words, {name: name in marks for name in MARKS})) for words in expressions)


def test_each_test_runs_once() -> None:
    for marks in EVERY_COMBINATION:
        assert runs(marks, full=True) == 1
        assert runs(marks) == (not marks & {"full", "alone"})
        assert runs(marks, fast=True) == (not marks)


def test_what_needs_the_machine_for_itself_runs_after_the_others_with_full() -> None:
    together, alone = groups(fast=False, full=True).values()
    assert any(option.startswith("--numprocesses") for option in together)
    assert not any(option.startswith("--numprocesses") for option in alone)
    assert alone[alone.index("-m") + 1].startswith("alone")
    (usual,) = groups(fast=False, full=False).values()
    assert any(option.startswith("--numprocesses") for option in usual)


def test_full_tries_more_examples_of_random_input() -> None:
    some, all_ = (groups(fast=False, full=full).values() for full in (False, True))
    assert all("--hypothesis-profile=full" in group for group in all_)
    assert not any("--hypothesis-profile=full" in group for group in some)


def test_applications_are_built_for_each_mpi_with_full_alone() -> None:
    some, all_ = ({one.preset: one.targets for one in builds(fast=False, full=full, unit=())} for full in (False, True))
    assert (some["mpich"], all_["mpich"]) == (["all"], ["all", "engine_benchmarks"])
    assert all_["openmpi"] == ["all"]
    assert "npb" not in some["openmpi"]
    assert {"microbench", "himeno", "mpi_variables"} <= set(some["openmpi"])
    assert [(one.preset, one.targets) for one in builds(True, False, ())] == [("mpich", ["progress_engine/all"])]


def test_unit_tests_are_built_with_all_else() -> None:
    first, *others = builds(fast=False, full=False, unit=unit_tests(full=False, sanitizers=True))
    assert (first.preset, first.targets) == ("mpich", ["all", "workloads_unit_tests"])
    assert {one.preset: one.mpi.name for one in others}["asan"] == "mpich"


def test_full_brings_what_its_tests_would_be_skipped_without(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    groups: list[str] = []
    command = sys.modules["harness.commands.test"]
    monkeypatch.setattr(command.packages, "ensure", lambda *purposes: asked.extend(purposes))
    monkeypatch.setattr(command.environment, "ensure_group", groups.append)
    monkeypatch.setattr(command.mpi_setup, "ensure", lambda *_: None)
    command._set_up(full=True)
    assert {"simulator", "full tests", "instruction counts", "Debian's MPIs"} <= set(asked)
    assert groups == ["dev", "browser", "notebooks"]
    for noted in (asked, groups):
        noted.clear()
    command._set_up(full=False)
    assert not {"simulator", "Debian's MPIs"} & set(asked)
    assert groups == ["dev"]


def test_all_unit_tests_run_and_the_engines_under_sanitizers() -> None:
    some, sanitized, all_ = (
        {tests.preset: tests.targets for tests in unit_tests(full, sanitizers)}
        for full, sanitizers in ((False, False), (False, True), (True, False))
    )
    assert {"workloads_unit_tests"} == set(some["mpich"]) == set(sanitized["mpich"]) == set(all_["mpich"])
    assert sanitized["asan"] == ("engine_tests",)
    assert set(sanitized) - set(some) == {"asan", "tsan"}
    assert all_["asan"] == all_["tsan"] == ("all",)


@pytest.mark.parametrize("status", [0, 8])
def test_unit_tests_run_beside_the_others_and_are_told_after_them(
    status: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    command = sys.modules["harness.commands.test"]
    words = ["sh", "-c", f"echo told; exit {status}"]
    monkeypatch.setattr(command, "ctest", lambda tests: [*words, tests.preset])
    with command._beside(unit_tests(full=False, sanitizers=True)) as statuses:
        print("the others")
    assert statuses == [status] * 3
    said = capfd.readouterr().out.split()
    assert said[:2] == ["the", "others"] and said.count("told") == 3


def test_what_takes_the_machines_turn_runs_one_after_the_other() -> None:
    """Whole runs wait for each other: two at once would only make each other late."""
    folder = ROOT / "harness" / "tests"
    scopes = {path.stem: scope_of(f"harness/tests/{path.name}::test_it") for path in folder.glob("test_*.py")}
    launching = {
        path.stem for path in folder.glob("test_*.py") if re.search(r"[ (]Running\(|bench\(\*?RUN", path.read_text())
    }
    assert {"test_faults", "test_programs", "test_every_mpi"} <= launching
    assert {scopes[name] for name in launching} == {"turn"}
    assert scopes["test_cli"] != scopes["test_plan"]


class Named(pytest.Item):
    def runtest(self) -> None: ...


def test_what_takes_the_machines_turn_comes_first(request: pytest.FixtureRequest) -> None:
    names = [f"harness/tests/test_{name}.py::test_it" for name in ("cli", "runs", "plan", "faults")]
    items: list[pytest.Item] = [Named.from_parent(request.session, name=name, nodeid=name) for name in names]
    pytest_collection_modifyitems(items)
    assert [item.nodeid for item in items] == [names[1], names[3], names[0], names[2]]


def test_where_the_time_went_is_said_by_parts() -> None:
    times = Times()
    for part in ("build/mpich", "tests", "tests", "nothing"):
        with times.of(part):
            pass
    times.wall_s |= {"build/mpich": 80.4, "tests": 9.6}
    times.cpu_s["build/mpich"] += 150.6
    assert str(times) == "took 90 s, in brackets of CPU time: build/mpich 80 s (151), tests 10 s (0)"


@pytest.mark.parametrize(
    ("ends", "status"), [([0, 0], 0), ([NO_TESTS, 0], 0), ([0, NO_TESTS], 0), ([NO_TESTS, NO_TESTS], 1), ([0, 1], 1)]
)
def test_words_that_one_group_lacks_are_no_failure_but_words_that_all_lack_are(ends: list[int], status: int) -> None:
    assert verdict(ends) == status


def test_what_was_skipped_in_any_group_is_counted_by_its_reason(tmp_path: Path) -> None:
    reports = [tmp_path / "one.xml", tmp_path / "two.xml"]
    case = '<testcase name="t"><skipped message="{}"/></testcase>'
    reports[0].write_text(f"<testsuites>{case.format('no Spack')}{case.format('no root')}</testsuites>")
    reports[1].write_text(f"<testsuites>{case.format('no Spack')}</testsuites>")
    assert skipped(reports, fast=False, full=True) == "skipped: 2 x no Spack; 1 x no root"
    some = skipped(reports[1:], fast=False, full=False, sanitizers=True)
    assert some.endswith("; the long ones (they run with --full)")
    assert "under sanitizers (--sanitizers, --full)" in skipped(reports[1:], fast=False, full=False)
    assert "virtual nodes" in skipped(reports[1:], fast=True, full=False)
