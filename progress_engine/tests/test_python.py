# SPDX-License-Identifier: BSD-3-Clause
"""Python under the engine: a reduction with a Python function, which may run on the engine's thread.

That thread then waits for Python's lock inside the MPI, where it must not meet a thread that waits for the MPI with
Python's lock: mpi4py gives it up around every call that can wait.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness.base.mpis import Mpi

from .conftest import MPICH_FIRST, PROGRAMS, TIME_LIMIT
from .third_party.mpi4py_suite import environment

pytestmark = pytest.mark.mpi


def sums(mpi: Mpi, variant: str | None, place: Path) -> tuple[list[str], int]:
    """The ranks' results, and how many threads other than the program's own called the function."""
    place.mkdir()
    engine = [str(mpi.build_dir / "bin" / "progress-run"), "--variant", variant, "--"] if variant else []
    command = [*mpi.launch_command(2, 2), *engine, sys.executable, str(PROGRAMS / "python_op.py")]
    ended = subprocess.run(
        ["timeout", "-k", "2", str(TIME_LIMIT), *command], env=os.environ | environment(mpi), capture_output=True,
        text=True, check=False, stdin=subprocess.DEVNULL, cwd=place,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found = re.findall(r"(rank \d: sum \d+), other threads (\d+)", ended.stdout)
    return sorted(words for words, _ in found), sum(int(threads) for _, threads in found)


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
@pytest.mark.parametrize("preset", ["thread", *(pytest.param(x, marks=pytest.mark.full) for x in ("adaptive", "idle"))])
def test_a_python_function_reduces(mpi: Mpi, preset: str, tmp_path: Path) -> None:
    bare, own_threads = sums(mpi, None, tmp_path / "bare")
    assert len(bare) == 2
    assert own_threads == 0
    with_engine, others = sums(mpi, preset, tmp_path / preset)
    assert with_engine == bare
    assert others > 0 or preset != "thread", "the function never ran on the engine's thread: nothing was tested"
