# SPDX-License-Identifier: BSD-3-Clause
"""The doorbell between ranks of one node, over shared memory.

Its protocol has tests without MPI: doorbell_test.cpp, and every interleaving of it in interleaving_test.cpp.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from harness.base.mpis import Mpi

from .conftest import TIME_LIMIT, compiled, reports

pytestmark = pytest.mark.mpi
# That a message moves beside a computation says little: the timer may move it, too. Who woke the engine is counted.
SETTINGS = ("rest_us=0",)


@pytest.fixture(scope="module")
def program(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(mpi, "doorbell.c", tmp_path_factory.mktemp("doorbell"))


def run(mpi: Mpi, program: Path, folder: Path, *settings: str, arguments: tuple[str, ...] = ()) -> str:
    """Two ranks under adaptive; what they printed."""
    given = (*SETTINGS, f"report_file={folder}/report.%r", *settings)
    engine = [str(mpi.build_dir / "bin" / "progress-run"), "--variant", "adaptive"]
    engine += [word for setting in given for word in ("--set", setting)]
    done = subprocess.run(
        ["timeout", "-k", "2", str(TIME_LIMIT), *mpi.launch_command(2, 2), *engine, "--", str(program), *arguments],
        env=os.environ | mpi.environment(), capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "wrong" not in done.stdout
    return done.stdout


def open_on_intel(mpi: Mpi) -> None:
    if mpi.name == "intel-mpi":
        pytest.skip("not shown on Intel MPI: rings arrive and are answered, but a large message needs more of them")


def test_a_sender_wakes_the_engine_of_a_neighbour(mpi: Mpi, program: Path, tmp_path: Path) -> None:
    open_on_intel(mpi)
    before = set(Path("/dev/shm").iterdir())
    said = run(mpi, program, tmp_path)
    assert "rank 0: world 1" in said and "rank 0: reversed 1" in said
    for report in reports(tmp_path):
        assert report["doorbell"]["neighbours"] == 1
    assert reports(tmp_path)[1]["doorbell"]["rings"] >= 2  # the first exchange may be over before neighbours are found
    assert reports(tmp_path)[0]["doorbell"]["answers"] >= 2
    assert reports(tmp_path)[0]["wake_sources"]["neighbours"] >= 2
    assert not [path for path in set(Path("/dev/shm").iterdir()) - before if "progress" in path.name]


# The counterpart: shows that it was the doorbell.
@pytest.mark.full
def test_without_it_no_neighbour_wakes_the_engine(mpi: Mpi, program: Path, tmp_path: Path) -> None:
    run(mpi, program, tmp_path, "doorbell=none")
    for report in reports(tmp_path):
        assert report["wake_sources"]["neighbours"] == 0
        assert report["doorbell"] is None


# How often rank 1 rings in each of ten rounds: before it waits, and after what it sent. The first knows nothing yet.
BLOCKING = {"send": 2, "ssend": 2, "rsend": 2, "recv": 1, "sendrecv": 3, "replace": 3, "put": 3, "get": 3, "lock": 3}


@pytest.fixture(scope="module")
def blocking(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(mpi, "blocking.c", tmp_path_factory.mktemp("blocking"))


# A second between two looks of the timer's: who finds what blocks the neighbour was rung.
@pytest.mark.elsewhere(call="send")
@pytest.mark.parametrize(
    "call", [pytest.param(x, marks=pytest.mark.full) if x in ("rsend", "replace", "lock") else x for x in BLOCKING]
)
def test_who_waits_for_a_neighbour_rings_it_first(call: str, mpi: Mpi, blocking: Path, tmp_path: Path) -> None:
    run(mpi, blocking, tmp_path, "timer_us=1000000", arguments=(call,))
    computes, waits = reports(tmp_path)
    assert waits["doorbell"]["rings"] >= 8 * BLOCKING[call]
    assert computes["wake_sources"]["neighbours"] >= 5
