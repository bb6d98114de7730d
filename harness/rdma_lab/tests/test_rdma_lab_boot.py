# SPDX-License-Identifier: BSD-3-Clause
"""A real boot: verbs carry what MPI sends, and a session on them says that its machines are emulated.

Fetches 300 MB the first time and builds twice without a compiler cache: ten minutes on two cores, with --full alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from harness.base.paths import STATE_DIR, results_dir
from harness.cli import main
from harness.job import records
from harness.rdma_lab import build, lab
from harness.rdma_lab.settings import NODES

MIB = 1024 * 1024
RXE_PAYLOAD = 4096
ONCE = "--set=launches=1"

pytestmark = [pytest.mark.full, pytest.mark.alone, pytest.mark.timeout(1800)]  # the first one fetches and builds


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[lab.Lab]:
    if reason := lab.supported():
        pytest.skip(reason)
    for mpi in ("debian-openmpi", "debian-mpich"):
        build.ensure(mpi, "progress_engine/all", "microbench")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OVERLAP_BENCH_RESULTS", str(tmp_path_factory.mktemp("results")))
        with lab.open_() as opened:
            yield opened
    assert lab.load() is None


def _packets(running: lab.Lab) -> dict[str, int]:
    return {node: running.counters(node)["rcvd_pkts"] for node in NODES}


@pytest.mark.parametrize("mpi", ["debian-openmpi", "debian-mpich"])
def test_verbs_carry_a_session_and_it_says_emulated(mpi: str, running: lab.Lab) -> None:
    before = _packets(running)
    points = ("--set=size_bytes=1048576", "--set=comp_over_comm=1.0", ONCE)
    words = ["overlap-ratio", "--system", "rdma-lab", "--scale", "test", "--mpi", mpi, "--variant", "bare,adaptive"]
    assert main(["run", *words, *points]) == 0
    after = _packets(running)
    session = (results_dir() / "latest").resolve()
    assert json.loads((session / "session.json").read_text())["emulated"] is True
    assert {json.loads(path.read_text())["host"] for path in (session / "nodes").iterdir()} == set(NODES)
    moved = 0
    for path in (session / "records").iterdir():
        record = records.read(path)
        assert record.header and record.end
        assert record.header["context"]["emulated"] is True
        assert sorted(rank["host"] for rank in record.header["ranks"]) == list(NODES)
        active = [bool(rank["engine"]) and rank["engine"]["active"] for rank in record.end["ranks"]]
        assert active == 2 * [record.header["context"]["variant"] == "adaptive"]
        moved += sum(len(next(iter(line["samples"].values()))) for line in record.points) * MIB
    assert sum(after.values()) - sum(before.values()) >= moved // 2 // RXE_PAYLOAD > 0


def test_what_a_launch_leaves_is_killed(running: lab.Lab) -> None:
    running.answer("lab2", ["sh", "-c", "TEST_MARK=1 setsid sleep 1000 > /dev/null 2>&1 &"])
    assert running.reap("lab2", "TEST_MARK") == 1
    assert running.reap("lab2", "TEST_MARK") == 0


def test_its_state_is_below_the_state_folder(running: lab.Lab) -> None:
    assert running.state.folder == STATE_DIR / "rdma-lab"
