# SPDX-License-Identifier: BSD-3-Clause
"""A program with AddressSanitizer under each preset: its own memory, which the MPI and engine threads write to."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from .conftest import MPICH_FIRST, PRESETS, Launcher, compiled, lines, reports
from .test_hazards import OWN_CRASH, REDZONES

pytestmark = [pytest.mark.mpi, pytest.mark.full]

TIMED_OUT = 124  # status of `timeout`
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
