# SPDX-License-Identifier: BSD-3-Clause
"""A workload made 5 % slower is found by `./bench compare` with 6 launches, from the command to the exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.tests.sessions import bench, latest

pytestmark = [
    pytest.mark.full,
    pytest.mark.mpi,
    pytest.mark.vcluster,
    pytest.mark.slow,
    pytest.mark.alone,
    pytest.mark.timeout(900),
]
ROUNDS = 3  # on a machine that does other work one round may see nothing
SESSION = ["overlap-ratio", "--mpi=mpich", "--variant=bare,adaptive"]
SESSION += [f"--set={setting}" for setting in ("launches=6", "size_bytes=4194304", "pattern=both")]


def run(results: Path, *arguments: str) -> str:
    """Runs a session and returns its name."""
    done = bench("run", *arguments)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return latest(results).name


@pytest.mark.usefixtures("state")
def test_five_percent_slower_is_found_with_six_launches(results: Path) -> None:
    verdicts: list[str] = []
    while "slower" not in verdicts and len(verdicts) < ROUNDS:
        base = run(results, *SESSION)
        slowed = run(results, "--like", base, "--inject-slowdown", "1.05")
        done = bench("compare", base, slowed, "--format", "json")
        found = json.loads(done.stdout)
        assert done.returncode == found["regression"], done.stderr
        verdicts.append(found["verdict"])
    assert verdicts[-1] == "slower", verdicts
    assert "faster" not in verdicts
