# SPDX-License-Identifier: BSD-3-Clause
"""A real boot: verbs carry what MPI sends, and a session on them says that its machines are emulated.

Fetches 300 MB the first time and builds twice without a compiler cache: ten minutes on two cores, with --full alone.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.base import process
from harness.base.paths import ROOT, results_dir
from harness.cli import main
from harness.job import records
from harness.rdma_lab import guest_build, lab
from harness.rdma_lab.lab_folder import bin_dir, state
from harness.rdma_lab.lab_settings import DEVICE, NODES

MIB = 1024 * 1024
RXE_PAYLOAD = 4096
ONCE = "--set=launches=1"
VERBS_SOURCES = (
    "fabrics/replaced.cpp",
    "fabrics/verbs.cpp",
    "wait/event_source.cpp",
    "wait/fabrics.cpp",
    "platform/loaded_object.cpp",
    "platform/loader.cpp",
    "platform/platform.cpp",
)
MESSAGES = 20_000
BUILD_LIMIT_S = 300.0
RUN_LIMIT_S = 300.0

pytestmark = [pytest.mark.long, pytest.mark.alone, pytest.mark.timeout(1800)]  # the first one fetches and builds


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[lab.Lab]:
    if reason := lab.supported():
        pytest.skip(reason)
    for mpi in ("debian-openmpi", "debian-mpich"):
        guest_build.ensure(mpi, "progress_engine/all", "microbench")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OVERLAP_BENCH_RESULTS", str(tmp_path_factory.mktemp("results")))
        with lab.open_() as opened:
            yield opened
    assert lab.load() is None


def _packets(running: lab.Lab) -> dict[str, int]:
    return {node: running.counters(node)["rcvd_pkts"] for node in NODES}


def _expect_ucx_to_wake_it(engines: dict[str, list[dict[str, Any]]]) -> None:
    """Both MPIs go over UCX: its workers announce, and with the engine the same carries the messages as without.

    Of bare nothing is known; `off` loads the engine, which then looks and does no more.
    """
    for report in engines["adaptive"]:
        assert "ucx" in report["events"]["sources"], report["events"]
        assert report["events"]["lack"] == ""
        for other in ("libfabric", "verbs"):
            assert report["events"]["wakes"][other] == 0
    assert sum(report["events"]["wakes"]["ucx"] for report in engines["adaptive"]) > 0
    carried = [
        {name: report["transport"][name] for name in ("component", "libraries", "devices")}
        for variant in ("off", "adaptive")
        for report in engines[variant]
    ]
    assert len(carried) >= 4
    assert all(each == carried[0] for each in carried), carried
    assert any(device.startswith("/dev/infiniband/") for device in carried[0]["devices"])


@pytest.mark.parametrize("mpi", ["debian-openmpi", "debian-mpich"])
def test_verbs_carry_a_session_and_it_says_emulated(mpi: str, running: lab.Lab) -> None:
    before = _packets(running)
    points = ("--set=size_bytes=1048576", "--set=comp_over_comm=1.0", ONCE)
    words = ["overlap-ratio", "--system", "rdma-lab", "--scale", "test", "--mpi", mpi]
    words += ["--variant", "bare,off,adaptive"]
    assert main(["run", *words, *points]) == 0
    after = _packets(running)
    session = (results_dir() / "latest").resolve()
    assert json.loads((session / "session.json").read_text())["emulated"] is True
    assert {json.loads(path.read_text())["host"] for path in (session / "nodes").iterdir()} == set(NODES)
    moved = 0
    engines: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for path in (session / "records").iterdir():
        record = records.read(path)
        assert record.header and record.end
        assert record.header["context"]["emulated"] is True
        assert sorted(rank["host"] for rank in record.header["ranks"]) == list(NODES)
        active = [bool(rank["engine"]) and rank["engine"]["active"] for rank in record.end["ranks"]]
        assert active == 2 * [record.header["context"]["variant"] == "adaptive"]
        engines[record.header["context"]["variant"]] += [rank["engine"] for rank in record.end["ranks"]]
        moved += sum(len(next(iter(line["samples"].values()))) for line in record.points) * MIB
    assert sum(after.values()) - sum(before.values()) >= moved // 2 // RXE_PAYLOAD > 0
    _expect_ucx_to_wake_it(engines)


def _built_for_the_guests(program: str, sources: tuple[str, ...]) -> Path:
    """A C++ program of the engine's tests, with these sources of the engine's, without an MPI."""
    folder, engine = bin_dir("debian-openmpi").parent, ROOT / "progress_engine"
    paths = [str(engine / "tests" / "programs" / program), *(str(engine / "src" / name) for name in sources)]
    built = folder / Path(program).stem
    options = ["-std=c++20", "-O2", f"-I{engine / 'src'}", *paths, "-libverbs", "-lpthread", "-ldl", "-o", str(built)]
    done = process.answer(guest_build.within(state(), str(folder), ["g++", *options]), BUILD_LIMIT_S)
    assert done.status == 0, done.err
    return built


def test_no_event_of_real_verbs_is_lost(running: lab.Lab) -> None:
    """The engine's event source over libibverbs and the kernel, with completions at any time; and nothing is left that
    a queue's end would wait for."""
    program = _built_for_the_guests("verbs_events.cpp", VERBS_SOURCES)
    done = running.answer("lab1", [str(program), DEVICE, "0", str(MESSAGES)], RUN_LIMIT_S)
    counted = dict(line.partition(" ")[::2] for line in done.out.splitlines())
    assert done.status == 0, done.out + done.err
    assert (counted["watched"], counted["received"], counted["lost"]) == ("1", str(MESSAGES), "0")
    assert int(counted["wakes"]) > MESSAGES // 10
    assert int(counted["armed"]) >= int(counted["wakes"])
    assert "destroyed" in counted


def test_what_a_launch_leaves_is_killed(running: lab.Lab) -> None:
    running.answer("lab2", ["sh", "-c", "TEST_MARK=1 setsid sleep 1000 > /dev/null 2>&1 &"])
    assert running.reap("lab2", "TEST_MARK") == 1
    assert running.reap("lab2", "TEST_MARK") == 0
