# SPDX-License-Identifier: BSD-3-Clause
"""Messages that move without anybody's progress: adaptive is not woken for them. Wakes are counted, not times."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.mpis import Mpi
from harness.tests.waiting import eventually

from .conftest import MPICH_FIRST, Launcher, compiled, reports

pytestmark = [pytest.mark.mpi, pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)]

PHASES = 40  # of small.c
# Each start wakes the engine, and what arrives; by how many wakes depends on who has the CPU.
WOKEN = PHASES // 2
LEFT_ALONE = 4  # at the MPI's begin and end


@pytest.fixture(scope="module")
def small(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Launcher:
    return Launcher(mpi, compiled(mpi, "small.c", tmp_path_factory.mktemp("small")))


def wakes(small: Launcher, folder: Path, phases: str, *settings: str) -> list[int]:
    given = ("rest_us=0", f"report_file={folder}/report.%r", *settings)  # it never rests: what wakes it shows
    done = small.run(*phases.split(), variant="adaptive", settings=given)
    assert done.returncode == 0, done.stderr
    return [report["wakes"] for report in reports(folder)]


@pytest.mark.parametrize("phases", ["1 1 isend", "8712 1 isend", "16384 4 isend"])
def test_small_messages_wake_nobody(small: Launcher, tmp_path: Path, phases: str) -> None:
    assert max(wakes(small, tmp_path, phases)) <= LEFT_ALONE


@pytest.mark.parametrize(
    ("phases", "settings"),
    [
        ("16385 1 isend", ()),  # one of more than eager_bytes
        ("16384 8 isend", ()),  # a burst: more than a connection takes at once
        ("8712 1 issend", ()),  # the receiver's MPI must answer
        ("8712 1 persistent", ()),  # how long they are is not remembered
        ("8712 1 isend", ("eager_bytes=0",)),
        ("8712 1 isend", ("eager_bytes=8711",)),
    ],
)
def test_others_wake_it_in_each_phase(small: Launcher, tmp_path: Path, phases: str, settings: tuple[str, ...]) -> None:
    """One of the two ranks at least: on a busy machine the other one may find its message there each time, or both."""
    assert eventually(lambda: max(wakes(small, tmp_path, phases, *settings)) >= WOKEN)
