# SPDX-License-Identifier: BSD-3-Clause
"""The energy of launches as a real Slurm counts it, from a virtual node's made-up registers to the report's line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.job import records
from harness.tests.sessions import bench, latest, results, state
from harness.vcluster.cluster import Cluster
from harness.vcluster.tests import counting_slurm
from harness.vcluster.tests.vcluster_fixtures import run

__all__ = ["results", "state"]  # fixtures
pytestmark = [pytest.mark.full, pytest.mark.mpi, pytest.mark.vcluster, pytest.mark.slurm, pytest.mark.timeout(600)]

WATTS = {"vc1": 200.0, "vc2": 300.0}
POINT = ("--set", "size_bytes=65536", "--set", "comp_over_comm=1.0", "--set", "pattern=both", "--set", "launches=2")
LONG = ("--set", "time_box_s=6", "--set", "min_samples=100000", "--set", "max_samples=100000")


@pytest.fixture
def counting(state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """Two nodes with a Slurm that counts their energy."""
    del state
    if reason := counting_slurm.supported():
        pytest.skip(reason)
    with counting_slurm.counting(WATTS, monkeypatch, tmp_path) as nodes:
        yield nodes


def test_the_report_has_the_watts_that_slurm_counted(counting: Cluster, results: Path) -> None:
    asked = ("run", "overlap-ratio", "--mpi", "mpich", "--variant", "bare", "--system", "vcluster-slurm")
    done = bench(*asked, *POINT, *LONG)
    assert done.returncode == 0, done.stdout + done.stderr
    session = latest(results)
    found = []
    for path in (session / "records").glob("*.jsonl"):
        end = records.read(path).end
        assert end is not None
        energy = end["energy"]
        assert energy["plugin"] == "rapl" and energy["nodes"] == 2, energy
        assert 0.8 * sum(WATTS.values()) < energy["joules"] / end["launch_s"] < 1.1 * sum(WATTS.values())
        found.append(energy["step"])
    assert len(set(found)) == 2, "each launch is a step of its own"
    listed = run(counting, "vc0", "sacct", "-n", "-P", "-o", "JobIDRaw,ConsumedEnergyRaw").stdout
    assert set(found) <= set(re.findall(r"^(\S+)\|[1-9]\d+$", listed, re.MULTILINE)), listed
    page = (session / "report.html").read_text()
    assert re.search(r"\d+ J, \S+ W \(\S+ to \S+\), 2 nodes by Slurm \(rapl\)", page)
