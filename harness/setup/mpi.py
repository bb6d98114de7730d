# SPDX-License-Identifier: BSD-3-Clause
"""The MPIs: each PyPI wheel in a folder of its own below .mpi, so that no two ever see each other."""

from __future__ import annotations

import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness.errors import UsageError
from harness.mpis import MPIS, Mpi
from harness.setup.environment import install
from harness.setup.steps import has_stamp, run_step, setup_lock, write_stamp


def ensure(*mpis: Mpi) -> None:
    """Install those of `mpis` that are wheels, side by side; UsageError if one is a Debian package that is not here."""
    for mpi in mpis:
        if not mpi.wheels and not mpi.installed():
            raise UsageError(f"{mpi.title} is not installed: sudo apt-get install {' '.join(mpi.packages)}")
    if not any(map(_lacks, mpis)):
        return
    with setup_lock(), ThreadPoolExecutor() as pool:
        list(pool.map(_install, filter(_lacks, mpis)))


def _lacks(mpi: Mpi) -> bool:
    return bool(mpi.wheels) and not (mpi.installed() and has_stamp(_stamp(mpi), " ".join(mpi.wheels)))


def _stamp(mpi: Mpi) -> Path:
    return mpi.prefix / "overlap-bench.stamp"


def _install(mpi: Mpi) -> None:
    wanted = " ".join(mpi.wheels)
    shutil.rmtree(mpi.prefix, ignore_errors=True)
    run_step(f"{mpi.title}: folder", [sys.executable, "-m", "venv", "--without-pip", str(mpi.prefix)])
    install(f"{mpi.title}: {wanted}", mpi.prefix, mpi.wheels, about_s=5)
    write_stamp(_stamp(mpi), wanted)


def by_name(name: str) -> Mpi:
    """The MPI of this name, or UsageError with the names there are."""
    try:
        return MPIS[name]
    except KeyError:
        raise UsageError(f"There is no MPI called '{name}'. There are: {', '.join(MPIS)}.") from None
