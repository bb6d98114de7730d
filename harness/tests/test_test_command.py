# SPDX-License-Identifier: BSD-3-Clause
"""./bench test: every test runs by default or with --full, once, and what was left out is said."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from harness.commands.test import NO_TESTS, groups, skipped, verdict

MARKS = ("mpi", "vcluster", "slurm", "spack", "slow", "full")
EVERY_COMBINATION = [set(some) for number in range(len(MARKS) + 1) for some in itertools.combinations(MARKS, number)]


def runs(marks: set[str], fast: bool = False, full: bool = False) -> int:
    """How often a test with these marks runs."""
    expressions = [group[group.index("-m") + 1] for group in groups(fast, full)]
    return sum(bool(eval(words, {name: name in marks for name in MARKS})) for words in expressions)


def test_each_test_runs_once() -> None:
    for marks in EVERY_COMBINATION:
        assert runs(marks, full=True) == 1
        assert runs(marks) == ("full" not in marks)
        assert runs(marks, fast=True) == (not marks)


def test_only_what_is_neither_timed_nor_alone_on_the_machine_runs_side_by_side() -> None:
    (together,) = groups(fast=True, full=False)
    assert any(option.startswith("--numprocesses") for option in together)
    assert not any(option.startswith("--numprocesses") for group in groups(False, True)[1:] for option in group)


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
    assert skipped(reports[1:], fast=False, full=False).endswith("; the long ones (they run with --full)")
    assert "virtual nodes" in skipped(reports[1:], fast=True, full=False)
