# SPDX-License-Identifier: BSD-3-Clause
"""A launch and its nodes: a launcher's status alone is not believed, and the nodes are asked what they are like."""

from __future__ import annotations

import json
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base import machine
from harness.base.variants import Recipe
from harness.job import records
from harness.job.launch import Attempt, context, name_of
from harness.job.plan import Plan
from harness.job.reap import kill, marked
from harness.job.records import Folders
from harness.job.runner import Runner
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
    assert context(emulated, plan.launches[0])["emulated"] is True and "emulated" not in context(plan, plan.launches[0])


# A launcher that runs the program on "the nodes", which have other names, without this process's environment.
LAUNCHER = """
import subprocess, sys
env, path, python, *options, module, folder = sys.argv[1:]
for host in ("n1", "n2"):
    program = (
        f"import runpy, socket, sys; socket.gethostname = lambda: {host!r}; sys.argv = [{module!r}, {folder!r}]; "
        f"runpy.run_module({module!r}, run_name='__main__')"
    )
    subprocess.run([env, "-i", path, python, "-c", program], check=True, cwd="/")
"""


def described(folder: Path) -> list[dict[str, str]]:
    return [json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))]


def test_two_nodes_of_one_name_and_one_that_changed_do_not_overwrite_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "node")
    machine.write(tmp_path)
    machine.write(tmp_path)
    assert [facts["host"] for facts in described(tmp_path)] == ["node"], "a second rank of one node says the same"
    monkeypatch.setattr(machine, "facts", lambda: {"kernel": "another"})
    machine.write(tmp_path)
    assert len(described(tmp_path)) == 2
    assert not list(tmp_path.glob("*.part"))


def test_the_nodes_that_a_job_launches_on_are_those_described(plan: Plan, tmp_path: Path) -> None:
    launch = [sys.executable, "-c", LAUNCHER]
    runner = Runner(replace(plan, platform=replace(plan.platform, launch_command=launch)), tmp_path)
    runner._describe_nodes()
    log = "".join(path.read_text() for path in Folders(tmp_path).logs.glob("*nodes.log"))
    assert [facts["host"] for facts in described(Folders(tmp_path).nodes)] == ["n1", "n2"], log


def test_a_launcher_that_is_not_there_ends_nothing(plan: Plan, tmp_path: Path) -> None:
    Runner(
        replace(plan, platform=replace(plan.platform, launch_command=["/absent/mpiexec"])), tmp_path
    )._describe_nodes()
    assert described(Folders(tmp_path).nodes) == []
    assert "absent" in next(Folders(tmp_path).logs.glob("*nodes.log")).read_text()
