# SPDX-License-Identifier: BSD-3-Clause
"""Intel's MPI Benchmarks, of the wheel impi-devel, run to their end under the engine: small sizes, two ranks, on their
own MPI; data is checked where it can be."""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache

import pytest

from harness.base.mpis import MPIS
from progress_engine.tests.third_party.mpi4py_suite import INTEL_OPENMP

pytestmark = [pytest.mark.mpi, pytest.mark.long, pytest.mark.timeout(600)]

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


def started(output: str) -> list[str]:
    """The benchmarks that began, and so came to their end if the program ended well."""
    return sorted(set(re.findall(r"# Benchmarking (\S+)", output)))


def run(program: str, variant: str) -> subprocess.CompletedProcess[str]:
    engine = [] if variant == "bare" else [str(INTEL.build_dir / "bin" / "progress-run"), "--variant", variant, "--"]
    libraries = [INTEL.prefix / "lib", *INTEL_OPENMP.folder().glob("*.data/data/lib")]
    own = INTEL.environment() | {"LD_LIBRARY_PATH": os.pathsep.join(map(str, libraries)), "OMP_NUM_THREADS": "2"}
    own |= {"I_MPI_FABRICS": "shm", "I_MPI_THREAD_YIELD": "3"}
    command = [*INTEL.launch_command(2, 2), *engine, str(INTEL.bin / program), *PROGRAMS[program]]
    return subprocess.run(
        ["timeout", "-k", "5", "150", *command], env=os.environ | own, capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


@cache
def bare(program: str) -> subprocess.CompletedProcess[str]:
    return run(program, "bare")


def difference(program: str, variant: str) -> str:
    """What is not as without the engine, in words; "" if nothing."""
    before, after = bare(program), run(program, variant)
    if after.returncode != before.returncode:
        return f"exit status {after.returncode}: {after.stdout[-300:]}{after.stderr[-300:]}"
    if started(after.stdout) != started(before.stdout):
        return f"{len(started(after.stdout))} benchmarks instead of {len(started(before.stdout))}"
    return f"says {after.stderr[-300:]}" if after.stderr != before.stderr else ""


@pytest.mark.parametrize("program", PROGRAMS)
def test_it_runs_to_its_end(program: str) -> None:
    if not INTEL.installed():
        pytest.skip("Intel MPI's wheel is not installed")
    if bare(program).returncode != 0:
        pytest.skip(f"{program} does not end well without the engine")
    assert started(bare(program).stdout) != []
    assert difference(program, "adaptive") == ""
