# SPDX-License-Identifier: BSD-3-Clause
"""A launcher's status alone is not believed: the record's end line says that the workload came to its end."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.variants import Recipe
from harness.job import records
from harness.job.folders import Folders
from harness.job.launch import Attempt, context
from harness.job.plan import Plan
from harness.job.reap import kill, marked, name_of
from harness.tests.conftest import good_record
from harness.tests.waiting import eventually

# Writes the record that it is given, leaves a process behind and reports success.
PROGRAM = """
import subprocess, sys
output = next(a for a in sys.argv if a.startswith("--output=")).partition("=")[2]
open(output, "w").write(open(sys.argv[1]).read())
subprocess.Popen(["sleep", "1000"], start_new_session=True)
print("last words")
"""


def _attempt(plan: Plan, tmp_path: Path, whole: bool) -> Attempt:
    launch = plan.launches[0]
    tmp_path.mkdir(exist_ok=True)
    given = tmp_path / "given.jsonl"
    records.write(given, good_record(launch))
    if not whole:
        given.write_text("".join(given.read_text().splitlines(keepends=True)[:-1]))
    folders = Folders(tmp_path / "session")
    folders.make()
    here = replace(plan.platform, launch_command=[], reap=[sys.executable, "-c", ""])
    own = replace(plan, platform=here, workload=[sys.executable, "-c", PROGRAM, str(given)])
    return Attempt(own, launch, Recipe(), [], folders, folders.records / f"{launch.identity}.jsonl")


def _left(attempt: Attempt) -> list[int]:
    return list(marked(_name(attempt)))


def _name(attempt: Attempt) -> str:
    return name_of(attempt.folders.logs / f"{attempt.launch.identity}.log")


@pytest.mark.parametrize("whole", [True, False])
def test_success_without_an_end_is_a_failure_and_reaped(plan: Plan, tmp_path: Path, whole: bool) -> None:
    attempt = _attempt(plan, tmp_path, whole)
    outcome = attempt.run()
    if whole:
        assert outcome.status == "ok", outcome
        assert len(_left(attempt)) == 1, "what a good launch leaves in the background is not reaped"
        kill(_name(attempt))
    else:
        assert outcome.status == "failed"
        assert outcome.reason == "the record is cut off; last words: last words"
        assert eventually(lambda: not _left(attempt))
    assert records.read(attempt.target).end is not None


def test_a_launch_of_the_same_name_in_another_session_is_not_reaped(plan: Plan, tmp_path: Path) -> None:
    here, there = (_attempt(plan, tmp_path / name, name == "here") for name in ("here", "there"))
    assert here.launch.identity == there.launch.identity
    assert (here.run().status, there.run().status) == ("ok", "failed")
    try:
        assert len(_left(here)) == 1, "only what its own session left"
        assert eventually(lambda: not _left(there))
    finally:
        kill(_name(here))


def test_a_record_says_that_its_processors_are_emulated_and_only_then(plan: Plan) -> None:
    emulated = replace(plan, platform=replace(plan.platform, emulated=True))
    assert context(emulated, plan.launches[0])["emulated"] is True
    assert "emulated" not in context(plan, plan.launches[0])
