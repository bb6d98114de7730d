# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's test suite passes and fails under the engine as it does without it.

A few of its tests flip on a busy machine. So what came out differently is run again, with and without the engine: only
what differs from the bare run in the same way both times is the engine's.

An mpi4py compiled for the standard's ABI, by MPICH's wrapper, runs on Intel MPI's library of it as well.
"""

from __future__ import annotations

import subprocess
import sysconfig
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pytest

from harness.setup.build import ABIS
from progress_engine.tests.conftest import ALL
from progress_engine.tests.third_party.mpi4py_suite import (
    BUILT_WITH,
    MPI4PY,
    TOUCHED,
    Outcome,
    changed,
    only,
    progress_run,
    run,
)

pytestmark = [pytest.mark.mpi, pytest.mark.timeout(1800)]

SOME = only(TOUCHED)


@cache
def bare(mpi: str, ranks: int, options: tuple[str, ...]) -> Outcome:
    outcome = run(ALL[mpi], ranks, "bare", options)
    assert "passed" in outcome.tests.values(), outcome.output[-2000:]
    return outcome


def ready(name: str) -> None:
    mpi, standard = ALL[name], ALL[name].name in ABIS
    if not mpi.installed():
        pytest.skip(f"{mpi.title} is not installed")
    if not all(path.exists() for path in (mpi.build_dir / "lib" / "libprogress_engine.so", progress_run(mpi))):
        pytest.skip(f"the engine is not built for {mpi.title}")
    if standard and not Path(sysconfig.get_path("include"), "Python.h").exists():
        pytest.skip("the headers of this Python are not installed, for which mpi4py would be compiled")
    try:
        for archive in (MPI4PY, *(BUILT_WITH if standard else ())):
            archive.folder()
    except subprocess.SubprocessError:
        pytest.skip("mpi4py's source package, or what compiles it, cannot be downloaded here")


def changed_by_the_engine(name: str, preset: str, options: tuple[str, ...]) -> dict[tuple[int, str], str]:
    mpi, ranks = ALL[name], 2
    ready(name)
    before, outcome = bare(name, ranks, options), run(mpi, ranks, preset, options)
    of_engine = [(report["active"], report["preset"]) for report in outcome.reports]
    assert of_engine == [(True, preset)] * ranks, outcome.output[-2000:]
    assert all(mpi.library in report["mpi"] for report in outcome.reports)
    assert mpi.name not in ABIS or {report["abi"] for report in outcome.reports} == {ABIS[mpi.name].library}
    return changed(mpi, ranks, preset, outcome, before)


def test_the_suite_belongs_to_the_installed_package() -> None:
    assert version("mpi4py") == MPI4PY.version


@pytest.mark.long
@pytest.mark.parametrize(
    ("mpi", "preset"),
    [
        ("openmpi", "adaptive"),
        ("intel-mpi", "adaptive"),
        ("mpich", "offload"),
        ("standard-abi of mpich", "adaptive"),
        ("standard-abi of mpich", "offload"),
        ("standard-abi of intel-mpi", "adaptive"),
    ],
)
def test_some_of_the_suite(mpi: str, preset: str) -> None:
    assert changed_by_the_engine(mpi, preset, SOME) == {}


@pytest.mark.long
def test_the_whole_suite() -> None:
    assert changed_by_the_engine("mpich", "adaptive", ()) == {}
