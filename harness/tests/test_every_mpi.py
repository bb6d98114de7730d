# SPDX-License-Identifier: BSD-3-Clause
"""Every MPI that ./bench list shows, wheel or Debian's, is built and measures, where it is installed."""

from __future__ import annotations

import pytest

from harness.base.mpis import MPIS, installed
from harness.job import records
from harness.job.records import RecordFile
from harness.tests.sessions import bench, latest

pytestmark = [pytest.mark.full, pytest.mark.mpi, pytest.mark.slow, pytest.mark.timeout(900)]
RUN = ("run", "overlap-ratio", "--system", "local", "--scale", "test", "--set", "launches=1", "--set", "timeout_s=60")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> list[RecordFile]:
    """The records of one run on all MPIs of this machine.

    What failed is tried once more: Debian's MPICH hangs in MPI_Finalize now and then, also without the engine.
    """
    results = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OVERLAP_BENCH_RESULTS", str(results))
        done = bench(*RUN, "--mpi", ",".join(mpi.name for mpi in installed()), timeout=600)
        assert latest(results).exists(), done.stderr
        if done.returncode:
            bench("run", "--resume", latest(results).name, timeout=300)
    return [records.read(path) for path in sorted((latest(results) / "records").iterdir())]


@pytest.mark.parametrize("name", MPIS)
def test_it_is_built_and_measures(measured: list[RecordFile], name: str) -> None:
    if not MPIS[name].installed():
        pytest.skip(f"{MPIS[name].title} is not installed")
    mine = [record for record in measured if record.header and record.header["context"]["mpi"] == name]
    ends = [record.end for record in mine]
    good = {
        (record.header["context"]["variant"], line["rank"])
        for record in mine
        for line in record.points
        if record.header and line["status"] == "ok"
    }
    assert good == {(variant, rank) for variant in ("bare", "adaptive") for rank in (0, 1)}, ends


def test_all_do_the_same_work(measured: list[RecordFile]) -> None:
    assert len({line["point"]["work_units"] for record in measured for line in record.points}) == 1
