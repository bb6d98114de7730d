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

from .conftest import TIME_LIMIT, compiled

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
