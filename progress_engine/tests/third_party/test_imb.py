# SPDX-License-Identifier: BSD-3-Clause
"""Intel's MPI Benchmarks run to their end under the engine, each benchmark of each; data is checked where it can be.

The programs come with Intel MPI's wheel; they run on MPICH's as well, which has the same ABI.
"""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from harness.mpis import MPIS
from progress_engine.tests.conftest import PRESETS
from progress_engine.tests.third_party.fetch import INTEL_OPENMP

pytestmark = [pytest.mark.mpi, pytest.mark.full, pytest.mark.timeout(600)]

INTEL = MPIS["intel-mpi"]
SHORT = ("-npmin", "2", "-msglog", "3:16", "-time", "0.2")
# -check: IMB-MT compares what arrived with what was sent; the others have no check in the wheel's build.
PROGRAMS = {
    "IMB-MPI1": ("-iter", "5", *SHORT),
    "IMB-NBC": ("-iter", "3", *SHORT),
    "IMB-RMA": ("-iter", "3", *SHORT),
    "IMB-P2P": ("-iter", "20", "-msglog", "3:16"),
    "IMB-MT": ("-thread_level", "multiple", "-check", "1", "-repeat", "5", "-count", "1,16,4096"),
}
DEFAULT = [("intel-mpi", "IMB-MPI1", "adaptive"), ("mpich", "IMB-NBC", "adaptive"), ("intel-mpi", "IMB-MT", "thread")]
ALL = [
    (mpi, program, preset) for mpi in ("intel-mpi", "mpich") for program in PROGRAMS for preset in (*PRESETS, "offload")
]


def started(output: str) -> list[str]:
    """The benchmarks that began, and so came to their end if the program ended well."""
    return sorted(set(re.findall(r"# Benchmarking (\S+)", output)))


def imb(mpi_name: str, program: str, variant: str) -> subprocess.CompletedProcess[str]:
    mpi = MPIS[mpi_name]
    engine = [] if variant == "bare" else [str(mpi.build_dir / "bin" / "progress-run"), "--variant", variant, "--"]
    libraries = [mpi.prefix / "lib", *INTEL_OPENMP.folder().glob("*.data/data/lib")]
    own = mpi.environment() | {"LD_LIBRARY_PATH": os.pathsep.join(map(str, libraries)), "OMP_NUM_THREADS": "2"}
    own |= {"I_MPI_FABRICS": "shm", "I_MPI_THREAD_YIELD": "3"}
    command = [*mpi.launch_command(2, 2), *engine, str(INTEL.bin / program), *PROGRAMS[program]]
    return subprocess.run(
        ["timeout", "-k", "5", "240", *command], env=os.environ | own, capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def runs_to_its_end(mpi: str, program: str, preset: str) -> None:
    if not (INTEL.installed() and MPIS[mpi].installed()):
        pytest.skip("the wheels of Intel MPI and MPICH are not both installed")
    bare, with_engine = imb(mpi, program, "bare"), imb(mpi, program, preset)
    if bare.returncode != 0:
        pytest.skip(f"{program} does not end well on {mpi} without the engine: {bare.stderr[-200:]}")
    assert with_engine.returncode == 0, with_engine.stdout[-1000:] + with_engine.stderr[-1000:]
    assert started(with_engine.stdout) == started(bare.stdout) != []
    assert with_engine.stderr == bare.stderr


@pytest.mark.parametrize(("mpi", "program", "preset"), DEFAULT)
def test_some(mpi: str, program: str, preset: str) -> None:
    runs_to_its_end(mpi, program, preset)


@pytest.mark.parametrize(("mpi", "program", "preset"), [case for case in ALL if case not in DEFAULT])
def test_the_rest(mpi: str, program: str, preset: str) -> None:
    runs_to_its_end(mpi, program, preset)
