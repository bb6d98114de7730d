# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's test suite passes and fails under the engine as it does without it.

A few of its tests flip on a busy machine. So what came out differently is run again, with and without the engine: only
what differs from the bare run in the same way both times is the engine's.
"""

from __future__ import annotations

import subprocess
from functools import cache
from importlib.metadata import version

import pytest

from harness.base.mpis import MPIS, Mpi
from progress_engine.tests.third_party.mpi4py_suite import MPI4PY, TOUCHED, Outcome, changed, only, run

pytestmark = [pytest.mark.mpi, pytest.mark.timeout(1800)]

SOME = only(TOUCHED)


@cache
def bare(mpi: str, ranks: int, options: tuple[str, ...]) -> Outcome:
    outcome = run(MPIS[mpi], ranks, "bare", options)
    assert "passed" in outcome.tests.values(), outcome.output[-2000:]
    return outcome


def ready(mpi: Mpi) -> None:
    if not mpi.installed():
        pytest.skip(f"{mpi.title} is not installed")
    if not (mpi.build_dir / "lib" / "libprogress_engine.so").exists():
        pytest.skip(f"the engine is not built for {mpi.title}")


def fetched() -> None:
    try:
        MPI4PY.folder()
    except subprocess.SubprocessError:
        pytest.skip("mpi4py's source package cannot be downloaded here")


def changed_by_the_engine(mpi: Mpi, ranks: int, preset: str, options: tuple[str, ...]) -> dict[tuple[int, str], str]:
    before = bare(mpi.name, ranks, options)
    return changed(mpi, ranks, preset, run(mpi, ranks, preset, options), before)


def test_the_suite_belongs_to_the_installed_package() -> None:
    assert version("mpi4py") == MPI4PY.version


@pytest.mark.suites
@pytest.mark.parametrize(("mpi", "preset"), [("openmpi", "adaptive"), ("intel-mpi", "adaptive"), ("mpich", "offload")])
def test_some_of_the_suite(mpi: str, preset: str) -> None:
    ready(MPIS[mpi])
    fetched()
    assert changed_by_the_engine(MPIS[mpi], 2, preset, SOME) == {}


@pytest.mark.suites
def test_the_whole_suite() -> None:
    ready(MPIS["mpich"])
    fetched()
    assert changed_by_the_engine(MPIS["mpich"], 2, "adaptive", ()) == {}
