# SPDX-License-Identifier: BSD-3-Clause
"""Each MPI is really asked: what it takes is shown by its own words, and what it does not have is said not to be taken.

What the outputs of other libraries look like stands in test_tune_read_back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from harness.base import process
from harness.base.mpis import MPIS, WHEEL_MPIS
from harness.job import read_back
from harness.sessions import space

pytestmark = pytest.mark.mpi
Ask = Callable[[Mapping[str, str]], Mapping[str, tuple[bool, str]]]
ABSENT = {"mpich": "MPIR_CVAR_NO_SUCH", "openmpi": "OMPI_MCA_btl_tcp_no_such", "intel-mpi": "I_MPI_NO_SUCH"}
# Of each MPI, and of what is below it, one that no other setting hides.
TAKEN = {
    "mpich": {"MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM": "ring", "UCX_RNDV_THRESH": "65536"},
    "openmpi": {"OMPI_MCA_btl_tcp_links": "4", "OMPI_MCA_mpi_yield_when_idle": "1"},
    "intel-mpi": {"I_MPI_THREAD_YIELD": "2", "FI_TCP_TX_SIZE": "1024"},
}
SHOWN_BY = {"mpi_t": "MPI_T: ", "ucx": "UCX prints it", "ofi": "libfabric: ", "intel": "the library prints"}
# What an MPI of the tables does not run with: MPICH's wheel hangs with a second virtual interface over UCX and TCP.
NOT_HERE = {"MPIR_CVAR_CH4_NUM_VCIS"}


@pytest.fixture(params=WHEEL_MPIS)
def name(request: pytest.FixtureRequest) -> str:
    """An MPI that is installed, with the program that asks it."""
    chosen: str = request.param
    mpi = MPIS[chosen]
    if not (mpi.installed() and (mpi.build_dir / "bin" / read_back.PROGRAM).exists()):
        pytest.skip(f"{mpi.title} is not installed, or {read_back.PROGRAM} is not built for it")
    return chosen


@pytest.fixture
def ask(name: str, tmp_path: Path) -> Ask:
    """Two ranks on this machine that talk over TCP are asked of each variable; what each answer shows."""
    mpi = MPIS[name]

    def launch(program: Sequence[str], log: Path, limit_s: float) -> process.Exit:
        return process.run([*mpi.launch_command(2, 2), *program], mpi.environment("tcp"), log, limit_s)

    def asked(values: Mapping[str, str]) -> Mapping[str, tuple[bool, str]]:
        probes = space.probes_of(values)
        read_back.run(probes, launch, mpi.build_dir / "bin", tmp_path, name)
        return {probe.name: read_back.told(probe, tmp_path, name) for probe in probes}

    return asked


def test_what_an_mpi_takes_is_shown_and_what_it_does_not_have_is_not(name: str, ask: Ask) -> None:
    found = ask(TAKEN[name] | {ABSENT[name]: "1"})
    how = {probe.name: probe.how for probe in space.probes_of(TAKEN[name])}
    for variable in TAKEN[name]:
        taken, why = found[variable]
        assert taken and why.startswith(SHOWN_BY[how[variable]]), found
    assert not found[ABSENT[name]][0], found


@pytest.mark.full
@pytest.mark.timeout(300)
def test_every_variable_of_the_tables_that_were_tried_here_is_taken(name: str, ask: Ask) -> None:
    lines = [one for table in space.tables() if table.of(name) and table.tried for one in table.variables]
    found = ask({one.name: one.values[0] for one in lines if one.name not in NOT_HERE})
    assert {variable: why for variable, (taken, why) in found.items() if not taken} == {}
