# SPDX-License-Identifier: BSD-3-Clause
"""Intel's MPI Benchmarks run to their end under the engine, each benchmark of each; data is checked where it can be."""

from __future__ import annotations

import pytest

from harness.mpis import MPIS
from progress_engine.tests.conftest import PRESETS
from progress_engine.tests.third_party.imb_suite import INTEL, PROGRAMS, bare, difference, started

pytestmark = [pytest.mark.mpi, pytest.mark.full, pytest.mark.timeout(600)]


@pytest.mark.parametrize("preset", [*PRESETS, "offload"])
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("mpi", ["intel-mpi", "mpich"])
def test_it_runs_to_its_end(mpi: str, program: str, preset: str) -> None:
    if not (INTEL.installed() and MPIS[mpi].installed()):
        pytest.skip("the wheels of Intel MPI and MPICH are not both installed")
    if bare(mpi, program).returncode != 0:
        pytest.skip(f"{program} does not end well on {mpi} without the engine: {bare(mpi, program).stderr[-200:]}")
    assert started(bare(mpi, program).stdout) != []
    assert difference(mpi, program, preset) == ""
