# SPDX-License-Identifier: BSD-3-Clause
"""Intel's MPI Benchmarks, of the wheel impi-devel: small sizes, two ranks, each program to its end.

They run on MPICH's wheel as well, which has the same ABI. What was run is kept as a row of runs.py; the status is 1 if
something was not as without the engine:

    python -m progress_engine.tests.third_party.imb_suite --mpi intel-mpi --variant adaptive,thread
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from functools import cache
from itertools import product

from harness.base.mpis import MPIS
from harness.setup import build
from progress_engine.tests.third_party.fetch import INTEL_OPENMP
from progress_engine.tests.third_party.runs import VARIANTS, Run, engine_commit, load, save, today

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


def run(mpi_name: str, program: str, variant: str) -> subprocess.CompletedProcess[str]:
    mpi = MPIS[mpi_name]
    engine = [] if variant == "bare" else [str(mpi.build_dir / "bin" / "progress-run"), "--variant", variant, "--"]
    libraries = [mpi.prefix / "lib", *INTEL_OPENMP.folder().glob("*.data/data/lib")]
    own = mpi.environment() | {"LD_LIBRARY_PATH": os.pathsep.join(map(str, libraries)), "OMP_NUM_THREADS": "2"}
    own |= {"I_MPI_FABRICS": "shm", "I_MPI_THREAD_YIELD": "3"}
    command = [*mpi.launch_command(2, 2), *engine, str(INTEL.bin / program), *PROGRAMS[program]]
    return subprocess.run(
        ["timeout", "-k", "5", "150", *command], env=os.environ | own, capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


@cache
def bare(mpi: str, program: str) -> subprocess.CompletedProcess[str]:
    return run(mpi, program, "bare")


def difference(mpi: str, program: str, variant: str) -> str:
    """What is not as without the engine, in words; "" if nothing."""
    before, after = bare(mpi, program), run(mpi, program, variant)
    if after.returncode != before.returncode:
        return f"exit status {after.returncode}: {after.stdout[-300:]}{after.stderr[-300:]}"
    if started(after.stdout) != started(before.stdout):
        return f"{len(started(after.stdout))} benchmarks instead of {len(started(before.stdout))}"
    return f"says {after.stderr[-300:]}" if after.stderr != before.stderr else ""


def row(mpi: str, program: str, variant: str, result: str, begin: float) -> Run:
    commit, seconds = engine_commit() if variant != "bare" else "", round(time.monotonic() - begin)
    number = len(started(bare(mpi, program).stdout))
    return Run(today(), commit, program, mpi, 2, variant, result, passed=number, seconds=seconds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", default="intel-mpi,mpich")
    parser.add_argument("--program", default=",".join(PROGRAMS))
    parser.add_argument("--variant", default=",".join(VARIANTS[1:]))
    parser.add_argument("--stop-after", type=float, default=1e9, help="seconds, after which no other program begins")
    options = parser.parse_args()
    end = time.monotonic() + options.stop_after
    done = {one.cell for one in load() if one.date == today() and one.result in ("same", "ended")}
    names = options.mpi.split(","), options.variant.split(","), options.program.split(",")
    different = 0
    for mpi, variant, program in product(*names):
        if (program, mpi, 2, variant) in done or time.monotonic() > end:
            continue
        for name in {mpi, INTEL.name}:
            build.ensure(MPIS[name], "progress_engine/all")
        begin = time.monotonic()
        if bare(mpi, program).returncode == 0 and (program, mpi, 2, "bare") not in done:
            save(row(mpi, program, "bare", "ended", begin))
            done.add((program, mpi, 2, "bare"))
        begin = time.monotonic()
        one = row(mpi, program, variant, difference(mpi, program, variant) or "same", begin)
        save(one)
        print(f"{mpi}, {program}, {variant}: {one.result}, {one.passed} benchmarks, {one.seconds} s", flush=True)
        different += one.result != "same"
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
