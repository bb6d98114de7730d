# SPDX-License-Identifier: BSD-3-Clause
"""The MPIs: each PyPI wheel in a folder of its own below .mpi, so that no two ever see each other."""

from __future__ import annotations

import shutil
import sys

from harness.errors import UsageError
from harness.mpis import MPIS, Mpi
from harness.setup.environment import PYTHON
from harness.setup.steps import has_stamp, run_step, setup_lock, write_stamp


def ensure(mpi: Mpi) -> None:
    """Install `mpi` if it is one of the wheels; raise UsageError if it is a Debian package that is not here."""
    if not mpi.wheels:
        if not mpi.installed():
            raise UsageError(f"{mpi.title} is not installed: sudo apt-get install {' '.join(mpi.packages)}")
        return
    stamp, wanted = mpi.prefix / "overlap-bench.stamp", " ".join(mpi.wheels)
    if mpi.installed() and has_stamp(stamp, wanted):
        return
    with setup_lock():
        if has_stamp(stamp, wanted):
            return
        shutil.rmtree(mpi.prefix, ignore_errors=True)
        run_step(f"{mpi.title}: folder", [sys.executable, "-m", "venv", "--without-pip", str(mpi.prefix)])
        pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "--python", str(mpi.prefix / "bin" / "python")]
        run_step(f"{mpi.title}: {wanted}", [*pip, "install", "-q", *mpi.wheels], about_s=5)
        write_stamp(stamp, wanted)


def by_name(name: str) -> Mpi:
    """The MPI of this name, or UsageError with the names there are."""
    try:
        return MPIS[name]
    except KeyError:
        raise UsageError(f"There is no MPI called '{name}'. There are: {', '.join(MPIS)}.") from None
