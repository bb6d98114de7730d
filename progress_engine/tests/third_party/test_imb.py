# SPDX-License-Identifier: BSD-3-Clause
"""Intel's MPI Benchmarks run to their end under the engine, each benchmark of each; data is checked where it can be.

On their own MPI; on MPICH and under each preset by the command of docs/measured/third-party.md.
"""

from __future__ import annotations

import pytest

from progress_engine.tests.third_party.imb_suite import INTEL, PROGRAMS, bare, difference, started

pytestmark = [pytest.mark.mpi, pytest.mark.full, pytest.mark.timeout(600)]


@pytest.mark.parametrize("program", PROGRAMS)
def test_it_runs_to_its_end(program: str) -> None:
    if not INTEL.installed():
        pytest.skip("Intel MPI's wheel is not installed")
    if bare(INTEL.name, program).returncode != 0:
        pytest.skip(f"{program} does not end well without the engine: {bare(INTEL.name, program).stderr[-200:]}")
    assert started(bare(INTEL.name, program).stdout) != []
    assert difference(INTEL.name, program, "adaptive") == ""
