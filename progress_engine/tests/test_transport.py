# SPDX-License-Identifier: BSD-3-Clause
"""The MPI carries its messages as it does alone: told by the kernel, so that there is a bare program to compare with.

The engine's report names the transport, too, and test_on_mpis.py compares it with that of the variant `off`; of a
program without the engine it can say nothing.
"""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from harness.base.mpis import Mpi

from .conftest import PRESETS, Launcher, compiled, lines

pytestmark = pytest.mark.mpi
SEVERAL = [
    "adaptive",
    *(pytest.param(name, marks=pytest.mark.full) for name in (*PRESETS, "offload") if name != "adaptive"),
]


@pytest.fixture(scope="module")
def told(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Launcher:
    return Launcher(mpi, compiled(mpi, "transport.c", tmp_path_factory.mktemp("transport")))


@cache
def brought_by(engine: Path) -> frozenset[str]:
    """The engine's libraries, and what they need of the system: C++'s, say, which a program in C does not have."""
    found = {file.name for file in engine.parent.glob("libprogress_*.so*")}
    for file in engine.parent.glob("libprogress_*.so"):
        needed = subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout
        found |= {Path(path).resolve().name for path in re.findall(r"=> (\S+)", needed)}
    return frozenset(found)


def without_engine(told: Launcher, said: list[str]) -> list[str]:
    """What it said, without the libraries that the engine brings."""
    return [line for line in said if line.rpartition(" ")[2] not in brought_by(told.engine)]


@pytest.fixture(scope="module")
def bare(told: Launcher) -> list[str]:
    result = told.run()
    assert result.returncode == 0, result.stderr
    said = lines(result.stdout)
    assert sum("library libmpi" in line for line in said) >= 2
    assert sum("TCP connections" in line for line in said) == 2
    return without_engine(told, said)


@pytest.mark.elsewhere(preset="adaptive")
@pytest.mark.parametrize("preset", SEVERAL)
def test_it_is_that_of_the_bare_program(told: Launcher, bare: list[str], preset: str) -> None:
    result = told.run(variant=preset, settings=("doorbell=node",) if preset == "adaptive" else ())
    assert result.returncode == 0, result.stderr
    assert without_engine(told, lines(result.stdout)) == bare
