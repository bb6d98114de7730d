# SPDX-License-Identifier: BSD-3-Clause
"""Each MPI across two virtual nodes: ranks, hosts and bytes on the interfaces, as whoever we are and without rights."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.base import mpis
from harness.vcluster import cluster, state
from harness.vcluster.tests.vcluster_fixtures import as_unprivileged, build_exchange

HERE = Path(__file__).resolve().parent

pytestmark = [pytest.mark.vcluster, pytest.mark.mpi]


@pytest.fixture(scope="session")
def programs() -> Iterator[dict[str, str]]:
    """exchange.c, built for each MPI wheel that is installed: name -> path, readable by everybody."""
    if reason := cluster.supported():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="obt-", dir="/tmp") as parent:
        Path(parent).chmod(0o755)
        yield {mpi.name: str(build_exchange(mpi, Path(parent))) for mpi in mpis.installed() if mpi.wheels}


def check_trial(facts: dict[str, Any], programs: dict[str, str]) -> None:
    """What vcluster_trial.py must have seen, whoever ran it."""
    assert facts["hostnames"] == {name: name for name in ("vc0", "vc1", "vc2")}
    assert facts["exit"] == 7
    assert facts["shell"].splitlines()[0] == "vc2"
    for name in programs:
        seen = facts["exchanges"][name]
        assert (seen["status"], seen["lines"]) == (0, [["0", "2", "vc1", "2"], ["1", "2", "vc2", "1"]]), seen["errors"]
        assert all(4 << 20 <= count < 5 << 20 for count in seen["bytes"])


def trial(python: list[str], place: Path, programs: dict[str, str]) -> dict[str, Any]:
    """Run vcluster_trial.py with a cluster in `place`."""
    done = subprocess.run(
        [*python, str(HERE / "vcluster_trial.py"), *(f"{name}={path}" for name, path in programs.items())],
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", state.VARIABLE: str(place)},
        capture_output=True, text=True, check=False, timeout=120, cwd="/",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts


def test_each_mpi_exchanges_across_the_nodes(programs: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory(prefix="obt-", dir="/tmp") as folder:
        facts = trial([sys.executable], Path(folder, "vc"), programs)
    check_trial(facts, programs)
    assert facts["uid"] == str(os.geteuid())


def test_rootless_is_the_same(programs: dict[str, str]) -> None:
    with as_unprivileged() as (folder, python):
        facts = trial(python, folder / "vc", programs)
        check_trial(facts, programs)
        assert facts["status"]["rootless"] is True
        assert facts["uid"] == str(folder.stat().st_uid) != "0"
        assert list(folder.iterdir()) == []
