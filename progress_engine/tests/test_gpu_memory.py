# SPDX-License-Identifier: BSD-3-Clause
"""A real GPU's memory: where there is a GPU. Intel MPI takes it if it is told to; the wheels of the others do not."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from harness.base.mpis import Mpi

from .conftest import Launcher, compiled, lines

pytestmark = [pytest.mark.full, pytest.mark.mpi, pytest.mark.parametrize("mpi", ["intel-mpi"], indirect=True)]
NO_GPU = 77  # the program's status
PRESETS = ("explicit", "thread", "timer", "idle", "adaptive", "offload")


@pytest.fixture
def launcher(mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Launcher:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        pytest.skip("no GPU: there is no driver library of CUDA")
    monkeypatch.setenv("I_MPI_OFFLOAD", "1")
    launcher = Launcher(mpi, compiled(mpi, "gpu_memory.c", tmp_path, "-ldl"))
    if launcher.run().returncode == NO_GPU:
        pytest.skip("CUDA's driver library finds no GPU")
    return launcher


@pytest.mark.parametrize("when", ["early", "late"])
@pytest.mark.parametrize("gpu", ["refuse", "context"])
@pytest.mark.parametrize("preset", PRESETS)
def test_messages_out_of_a_gpus_memory_arrive_in_another(launcher: Launcher, preset: str, gpu: str, when: str) -> None:
    result = launcher.run(when, variant=preset, settings=(f"gpu={gpu}",))
    assert result.returncode == 0, result.stderr
    said = lines(result.stdout)
    assert len(said) == 2
    assert all("20 rounds, 0 wrong numbers" in line for line in said)
    refused = "the MPI takes CUDA memory" in result.stderr
    assert refused == (gpu == "refuse" and preset != "explicit")
