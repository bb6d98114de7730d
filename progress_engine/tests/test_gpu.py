# SPDX-License-Identifier: BSD-3-Clause
"""An MPI that takes GPUs' memory, with stand-ins for the GPU's library and for what such an MPI answers."""

from __future__ import annotations

import ctypes
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.base.mpis import Mpi

from .conftest import MPICH_FIRST, PROGRAMS, Launcher, compiled, lines, reports

pytestmark = pytest.mark.mpi
of_mpich_first = pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
FULL = pytest.mark.full
LATE = [pytest.param(False, marks=FULL), True]  # when the library is loaded
WHY = "the MPI takes CUDA memory and libcuda.so is loaded"


@dataclass(frozen=True)
class Gpu:
    """A program, the GPU's library, and an MPI that takes its memory (without: `knows` is nothing)."""

    launcher: Launcher
    library: Path
    knows: Path

    def run(
        self,
        folder: Path,
        preset: str = "thread",
        *,
        late: bool = False,
        loaded: bool = True,
        knows: bool = True,
        active: int = 1,
        own_context: bool = False,
        **settings: str,
    ) -> str:
        """What a rank printed and said; `active`: GPUs whose primary context is in use."""
        settings = {"": preset, "_REPORT_FILE": f"{folder}/report.%r"} | settings
        below = [self.knows] if knows else []
        below += [self.library] if loaded and not late else []
        preload = ":".join(map(str, [self.launcher.engine, *below]))
        words = [f"PROGRESS_ENGINE{key}={value}" for key, value in settings.items()]
        words.append(f"GPU_ACTIVE={active}")
        words += ["OWN_CONTEXT=1"] if own_context else []
        arguments = [str(self.library)] if late else []
        result = self.launcher.run(*arguments, prefix=("env", *words, f"LD_PRELOAD={preload}"), tasks=1)
        return "\n".join([*lines(result.stdout), result.stderr])


@pytest.fixture(scope="module")
def gpu(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Gpu:
    folder = tmp_path_factory.mktemp("gpu")
    library = folder / "libcuda.so.1"
    named = ["-shared", "-fPIC", f"-Wl,-soname,{library.name}"]
    subprocess.run(["gcc", *named, "-o", library, PROGRAMS / "gpu_driver.c"], check=True)
    program = compiled(mpi, "gpu.c", folder, "-ldl")
    knows = compiled(mpi, "gpu.c", folder, "-DSTAND_IN", library="knows.so")
    return Gpu(Launcher(mpi, program), library, knows)


@of_mpich_first
def test_no_thread_polls_where_the_mpi_takes_a_gpus_memory(gpu: Gpu, tmp_path: Path) -> None:
    said = gpu.run(tmp_path)
    assert "received 42, polled before 0, after 0" in said
    assert WHY in said
    (report,) = reports(tmp_path, 1)
    assert not report["active"]
    assert WHY in report["reason"]


@of_mpich_first
def test_polling_ends_when_a_gpus_library_is_loaded(gpu: Gpu, tmp_path: Path) -> None:
    said = gpu.run(tmp_path, late=True)
    assert "received 42, polled before 1, after 0" in said
    assert said.count(WHY) == 1
    (report,) = reports(tmp_path, 1)
    assert not report["active"]
    assert WHY in report["reason"]


@of_mpich_first
@pytest.mark.parametrize("late", LATE)
def test_strict_means_not_without_it(gpu: Gpu, tmp_path: Path, late: bool) -> None:
    said = gpu.run(tmp_path, late=late, _STRICT="1")
    assert "received" not in said
    assert WHY in said


@of_mpich_first
@pytest.mark.parametrize(
    "how",
    [{"loaded": False}, *(pytest.param(how, marks=pytest.mark.full) for how in ({"knows": False}, {"_GPU": "poll"}))],
    ids=str,
)
def test_it_polls_where_nothing_speaks_against_it(gpu: Gpu, tmp_path: Path, how: dict[str, bool | str]) -> None:
    said = gpu.run(tmp_path, **how)  # type: ignore[arg-type]
    assert "received 42, polled before 1, after 1" in said
    assert WHY not in said


@of_mpich_first
@FULL
def test_the_programs_own_calls_may_poll(gpu: Gpu, tmp_path: Path) -> None:
    assert WHY not in gpu.run(tmp_path, "explicit")


STANDS_DOWN = "the program's threads make their calls themselves from here on"


@of_mpich_first
@pytest.mark.parametrize("late", LATE)
def test_offload_stands_down_when_a_gpus_library_is_loaded(gpu: Gpu, tmp_path: Path, late: bool) -> None:
    said = gpu.run(tmp_path, "offload", late=late)
    assert f"received 42, polled before {int(late)}, after 0" in said
    assert "sent a copy 0" in said, "the CPU may be unable to read a GPU's memory"
    assert said.count(WHY) == said.count(STANDS_DOWN) == 1
    (report,) = reports(tmp_path, 1)
    assert not report["active"]
    assert WHY in report["reason"]


@of_mpich_first
@FULL
@pytest.mark.parametrize("late", [False, True])
def test_offload_is_strict_about_gpus(gpu: Gpu, tmp_path: Path, late: bool) -> None:
    said = gpu.run(tmp_path, "offload", late=late, _STRICT="1")
    assert "received" not in said
    assert WHY in said


@of_mpich_first
@FULL
@pytest.mark.parametrize("how", [{"loaded": False}, {"knows": False}], ids=str)
def test_offload_goes_on_where_nothing_speaks_against_it(gpu: Gpu, tmp_path: Path, how: dict[str, bool | str]) -> None:
    said = gpu.run(tmp_path, "offload", **how)  # type: ignore[arg-type]
    assert "received 42, polled before 1, after 1" in said
    assert WHY not in said


@of_mpich_first
@pytest.mark.parametrize("late", LATE)
@pytest.mark.parametrize("preset", ["thread", pytest.param("offload", marks=FULL)])
def test_it_polls_in_the_context_of_the_one_gpu_that_the_program_uses(
    gpu: Gpu, tmp_path: Path, preset: str, late: bool
) -> None:
    said = gpu.run(tmp_path, preset, late=late, _GPU="context")
    assert "received 42, polled before 1, after 1" in said
    assert "a thread took a context 1" in said
    assert WHY not in said
    if preset == "offload":
        assert "sent a copy 0" in said, "the CPU may be unable to read a GPU's memory"


@of_mpich_first
@pytest.mark.parametrize("preset", ["thread", pytest.param("offload", marks=FULL)])
def test_without_a_context_of_the_programs_it_polls_as_it_is(gpu: Gpu, tmp_path: Path, preset: str) -> None:
    said = gpu.run(tmp_path, preset, active=0, _GPU="context")
    assert "received 42, polled before 1, after 1" in said
    assert "a thread took a context 0" in said


@of_mpich_first
@pytest.mark.parametrize("preset", ["thread", pytest.param("offload", marks=FULL)])
def test_of_several_gpus_it_takes_none_and_polls_no_more(gpu: Gpu, tmp_path: Path, preset: str) -> None:
    said = gpu.run(tmp_path, preset, active=2, _GPU="context")
    assert "received 42" in said
    assert "after 0" in said
    assert "a thread took a context 0" in said
    assert WHY in said
    assert "gpu=context found none" in said, "what has not helped is not recommended"


@of_mpich_first
def test_a_thread_that_has_a_context_keeps_it(gpu: Gpu, tmp_path: Path) -> None:
    """The program's own threads poll, too, where its calls do: the engine's polls seldom, or theirs hardly would."""
    said = gpu.run(tmp_path, "timer", own_context=True, _GPU="context", _POINTS="explicit,timer")
    assert "received 42, polled before 1, after 1" in said
    assert "kept its own context 1" in said
    assert WHY not in said


@of_mpich_first
@pytest.mark.full
def test_threads_that_all_communicate_lose_nothing_when_offload_stands_down(gpu: Gpu, tmp_path: Path) -> None:
    """Each rank loads the library in the middle of it, while many wait."""
    storm = Launcher(gpu.launcher.mpi, compiled(gpu.launcher.mpi, "storm.c", tmp_path, "-lpthread"))
    settings = ("PROGRESS_ENGINE=offload", f"PROGRESS_ENGINE_REPORT_FILE={tmp_path}/report.%r")
    preload = f"LD_PRELOAD={storm.engine}:{gpu.knows}"
    result = storm.run("16", "300", prefix=("env", *settings, f"GPU_COMES={gpu.library}", preload))
    assert result.returncode == 0, result.stderr
    assert lines(result.stdout) == [f"rank {rank}: 16 threads, 300 operations each, 0 errors" for rank in (0, 1)]
    assert result.stderr.count(STANDS_DOWN) == 1, "what holds for all one rank says"
    for report in reports(tmp_path):
        assert report["offload"]["passes"] > 0, "nothing was handed over before"
        assert report["offload"]["stand_ins"] > 0, "nobody worked for itself afterwards"


@of_mpich_first
@FULL
def test_offload_goes_on_where_nobody_may_take_its_place(gpu: Gpu, tmp_path: Path) -> None:
    """An MPI at MPI_THREAD_FUNNELED: only the communication thread may call."""
    funneled = compiled(gpu.launcher.mpi, "gpu.c", tmp_path, "-DSTAND_IN", "-DFUNNELED", library="funneled.so")
    said = Gpu(gpu.launcher, gpu.library, funneled).run(tmp_path, "offload", late=True)
    assert "received 42, polled before 1, after 1" in said
    assert "sent a copy 1" in said
    assert said.count(WHY) == said.count("must hand over nothing that lies in a GPU's memory") == 1


# A real GPU's memory: where there is a GPU. Intel MPI takes it if it is told to; the wheels of the others do not.
NO_GPU = 77  # the program's status
PRESETS = ("explicit", "thread", "timer", "idle", "adaptive", "offload")


@pytest.fixture
def of_gpu(mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Launcher:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        pytest.skip("no GPU: there is no driver library of CUDA")
    monkeypatch.setenv("I_MPI_OFFLOAD", "1")
    of_gpu = Launcher(mpi, compiled(mpi, "gpu_memory.c", tmp_path, "-ldl"))
    if of_gpu.run().returncode == NO_GPU:
        pytest.skip("CUDA's driver library finds no GPU")
    return of_gpu


@pytest.mark.full
@pytest.mark.parametrize("mpi", ["intel-mpi"], indirect=True)
@pytest.mark.parametrize("when", ["early", "late"])
@pytest.mark.parametrize("gpu", ["refuse", "context"])
@pytest.mark.parametrize("preset", PRESETS)
def test_messages_out_of_a_gpus_memory_arrive_in_another(of_gpu: Launcher, preset: str, gpu: str, when: str) -> None:
    result = of_gpu.run(when, variant=preset, settings=(f"gpu={gpu}",))
    assert result.returncode == 0, result.stderr
    said = lines(result.stdout)
    assert len(said) == 2
    assert all("20 rounds, 0 wrong numbers" in line for line in said)
    refused = "the MPI takes CUDA memory" in result.stderr
    assert refused == (gpu == "refuse" and preset != "explicit")
