# SPDX-License-Identifier: BSD-3-Clause
"""What a node says of itself, and that the job's own launch is what asks it."""

from __future__ import annotations

import json
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base import machine
from harness.job.folders import Folders
from harness.job.plan import Plan
from harness.job.runner import Runner

# A launcher that runs the program on "the nodes", which have other names, without this process's environment.
LAUNCHER = """
import subprocess, sys
env, path, python, minus_m, module, folder = sys.argv[1:]
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
