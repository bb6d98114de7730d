# SPDX-License-Identifier: BSD-3-Clause
"""Real MPI programs with MPICH and the engine's build with ThreadSanitizer: no data race in the engine.

The program and the engine are instrumented, the MPI is not: what its own code does is none of the sanitizer's business
(ignore_noninstrumented_modules).
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.base.mpis import MPIS
from harness.base.paths import BUILD_DIR

from .conftest import MPICH_FIRST, PRESETS, TIME_LIMIT, TIMED_OUT, Launcher, compiled, lines, reports
from .test_hazards import OWN_CRASH, REDZONES

pytestmark = [pytest.mark.mpi, pytest.mark.full]

MPICH = MPIS["mpich"]
LIBRARY = BUILD_DIR / "tsan" / "lib" / "libprogress_engine.so"
RACE_FOUND = 66


@dataclass(frozen=True)
class Instrumented:
    """The programs, in a folder."""

    folder: Path

    def run(self, program: str, *arguments: str, preset: str | None) -> subprocess.CompletedProcess[str]:
        """Two ranks; `preset` None: without the engine."""
        preload = f"LD_PRELOAD={LIBRARY}" if preset else "LD_PRELOAD="
        engine = {"PROGRESS_ENGINE": preset or "off", "HAZARD_FOLDER": str(self.folder)}
        options = f"exitcode={RACE_FOUND}:ignore_noninstrumented_modules=1:second_deadlock_stack=1"
        # UCX hooks madvise, which a thread calls after the sanitizer has let go of it.
        no_hooks = {"UCX_MEM_MMAP_HOOK_MODE": "none"}
        environment = os.environ | MPICH.environment("tcp") | no_hooks | engine | {"TSAN_OPTIONS": options}
        command = [*MPICH.launch_command(2, 2), "env", preload, str(self.folder / f"{program}-mpich"), *arguments]
        return subprocess.run(
            ["timeout", "-k", "2", str(TIME_LIMIT), *command], env=environment, capture_output=True, text=True,
            check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip


@pytest.fixture(scope="module")
def instrumented(tmp_path_factory: pytest.TempPathFactory) -> Instrumented:
    if not (LIBRARY.exists() and MPICH.installed()):
        pytest.skip("build/tsan is not built (./bench test --full builds it)")
    folder = tmp_path_factory.mktemp("tsan")
    for source in ("hazards.c", "scenarios.c", "storm.c"):
        compiled(MPICH, source, folder, "-g", "-fsanitize=thread", "-lpthread", "-ldl")
    return Instrumented(folder)


def test_a_race_is_found(instrumented: Instrumented) -> None:
    ended = instrumented.run("hazards", "racy", preset="adaptive")
    assert ended.returncode != 0
    assert "data race" in ended.stderr


RUNS: list[tuple[str, tuple[str, ...], str]] = []
RUNS += [("scenarios", ("all",), preset) for preset in ("adaptive", "thread", "idle", "mwait", "explicit", "offload")]
RUNS += [("hazards", (name,), "thread") for name in ("files", "persistent", "partitioned", "window", "leave")]
RUNS += [("storm", ("16", "50"), preset) for preset in ("adaptive", "offload")]


@pytest.mark.parametrize(
    ("program", "arguments", "preset"), RUNS, ids=["-".join([run[0], *run[1], run[2]]) for run in RUNS]
)
def test_no_race_in_the_engine(
    instrumented: Instrumented, program: str, arguments: tuple[str, ...], preset: str
) -> None:
    bare = instrumented.run(program, *arguments, preset=None)
    ended = instrumented.run(program, *arguments, preset=preset)
    assert "data race" not in ended.stderr, ended.stderr[:4000]
    assert ended.returncode == bare.returncode
    if program != "hazards":  # which tells what the engine does; test_hazards.py looks at that
        assert sorted(ended.stdout.splitlines()) == sorted(bare.stdout.splitlines())


# A program with AddressSanitizer under each preset: its own memory, which the MPI and engine threads write to.
NOT_ITS_LEAKS = "detect_leaks=0"  # the MPI's are not the program's


def run(program: Launcher, patch: pytest.MonkeyPatch, **how: object) -> subprocess.CompletedProcess[str]:
    """With blocks further apart where MPICH's MPI_Init crashes by itself; skipped where that does not help."""
    for redzone in REDZONES:
        patch.setenv("ASAN_OPTIONS", f"{NOT_ITS_LEAKS}:redzone={redzone}")
        ended = program.run("all", limit=120, **how)  # type: ignore[arg-type]
        if not OWN_CRASH.search(ended.stderr):
            return ended
    pytest.skip(f"{program.mpi.title} crashes in MPI_Init under AddressSanitizer, without the engine as well")


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
@pytest.mark.parametrize("preset", [*PRESETS, "offload"])
@pytest.mark.timeout(500)
def test_a_program_with_the_address_sanitizer_runs(
    launcher: Launcher, preset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = ("-fsanitize=address", "-fno-omit-frame-pointer", "-g", "-lpthread")
    program = Launcher(launcher.mpi, compiled(launcher.mpi, "scenarios.c", tmp_path, *flags))
    bare = run(program, monkeypatch)
    if bare.returncode == TIMED_OUT:  # Debian's MPICH hangs now and then, without the engine as well
        bare = run(program, monkeypatch)
    result = run(program, monkeypatch, variant=preset, settings=(f"report_file={tmp_path}/report.%r",))
    assert (result.returncode, result.stderr) == (bare.returncode, bare.stderr) == (0, "")
    assert lines(result.stdout) == lines(bare.stdout) != []
    for report in reports(tmp_path):
        assert report["active"] is (preset != "off"), report["reason"]


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_an_error_of_such_a_program_is_found_under_offload(
    launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the sanitizer knows of the program's memory holds for the thread that makes its calls."""
    source = tmp_path / "too_short.c"
    source.write_text(
        "#include <mpi.h>\n#include <stdlib.h>\nint main(void) {\n  int sent[64] = {0};\n  MPI_Request request;\n"
        "  int* received = malloc(4);\n  MPI_Init(NULL, NULL);\n"
        "  MPI_Irecv(received, 64, MPI_INT, 0, 0, MPI_COMM_SELF, &request);\n"
        "  MPI_Send(sent, 64, MPI_INT, 0, 0, MPI_COMM_SELF);\n  MPI_Wait(&request, MPI_STATUS_IGNORE);\n"
        "  MPI_Finalize();\n  return 0;\n}\n"
    )
    program = Launcher(launcher.mpi, compiled(launcher.mpi, str(source), tmp_path, "-fsanitize=address", "-g"))
    found = run(program, monkeypatch, variant="offload", tasks=1)
    assert found.returncode != 0
    assert "heap-buffer-overflow" in found.stderr
