# SPDX-License-Identifier: BSD-3-Clause
"""Small programs of the tests, compiled by an MPI's wrapper."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from harness.base.mpis import Mpi
from harness.setup.build import build_variables


def compiled(wrapper: Path, mpi: Mpi, source: Path, made: Path, *flags: str) -> Path:
    """`source` compiled by `wrapper` and linked into `made`, in two steps: ccache, if there is one, keeps the first
    one's."""
    cache = ["ccache"] if shutil.which("ccache") else []
    environment = os.environ | build_variables(mpi)
    part = f"{made}.o"
    compiler_flags = [flag for flag in flags if flag.startswith(("-D", "-f", "-g"))]
    for command in (
        [*cache, str(wrapper), "-O1", *compiler_flags, "-c", str(source), "-o", part],
        [str(wrapper), part, *flags, "-o", str(made)],
    ):
        subprocess.run(command, check=True, env=environment, cwd=made.parent, timeout=300)
    return made
