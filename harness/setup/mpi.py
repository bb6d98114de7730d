# SPDX-License-Identifier: BSD-3-Clause
"""The MPIs: each PyPI wheel in a folder of its own below .mpi, so that no two ever see each other."""

from __future__ import annotations

import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness.base.errors import UsageError
from harness.base.mpis import MPIS, Mpi
from harness.base.steps import has_stamp, run_step, setup_lock, write_stamp
from harness.setup.environment import install

TOOLS = ("mpicc", "mpicxx", "mpic++", "mpiCC", "mpif77", "mpif90", "mpifort", "mpiexec", "mpirun")


def ensure(*mpis: Mpi) -> None:
    """Have `mpis` here, with their tools under plain names: wheels are installed side by side; UsageError if one is a
    Debian package that is not here."""
    for mpi in mpis:
        if not mpi.wheels and not mpi.installed():
            raise UsageError(f"{mpi.title} is not installed: sudo apt-get install {' '.join(mpi.packages)}")
    if any(map(_lacks, mpis)):
        with setup_lock(), ThreadPoolExecutor() as pool:
            list(pool.map(_install, filter(_lacks, mpis)))
    for mpi in mpis:
        _give_plain_names(mpi)


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


def _give_plain_names(mpi: Mpi) -> None:
    """mpicc for mpicc.mpich, and so on; what an MPI lacks is refused, or another's on PATH would be taken for it.

    Scripts, because these programs look at the name by which they are called.
    """
    for folder in ("bin", "lib"):
        (mpi.plain / folder).mkdir(parents=True, exist_ok=True)
    for name in TOOLS:
        tool = mpi.bin / f"{name}{mpi.suffix}"
        if not tool.exists():
            _replace(mpi.plain / "bin" / name, f"#!/bin/sh\necho '{mpi.title} has no {name}.' >&2\nexit 2\n")
        elif mpi.suffix:
            _replace(mpi.plain / "bin" / name, f'#!/bin/sh\nexec {tool} "$@"\n')
    for name, pattern in mpi.loaded_as.items():
        for library in mpi.prefix.glob(pattern):
            link = mpi.plain / "lib" / name
            if not link.exists():
                link.unlink(missing_ok=True)
                link.symlink_to(library)


def _replace(script: Path, text: str) -> None:
    if not has_stamp(script, text):
        write_stamp(script, text)
        script.chmod(0o755)


def by_name(name: str) -> Mpi:
    """The MPI of this name, or UsageError with the names there are."""
    try:
        return MPIS[name]
    except KeyError:
        raise UsageError(f"There is no MPI called '{name}'. There are: {', '.join(MPIS)}.") from None
