# SPDX-License-Identifier: BSD-3-Clause
"""MVAPICH2 2.3, of the papers, which no machine of ours has: the engine's driver and flags, held against its shape.

The header below programs/mvapich2 has what matters to the driver (MPI 3.1, no MPIX_Stream_progress); the library
behind it counts. That the engine works with the real one is not shown here.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness.base.mpis import MPIS

ENGINE = Path(__file__).resolve().parent.parent
FAKE = ENGINE / "tests" / "programs" / "mvapich2"
BUILT = [mpi for mpi in MPIS.values() if (mpi.build_dir / "bin" / "progress-run").exists()]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("generated")
    generator = ENGINE / "src" / "generator" / "generate.py"
    command = [sys.executable, str(generator), "--compiler", "g++", f"--include={FAKE}"]
    command += ["--output-dir", str(folder / "mpi")]
    subprocess.run(command, check=True, timeout=120)
    return folder


def test_the_interposer_is_of_its_header(generated: Path) -> None:
    handles = (generated / "mpi" / "mpi_handles.hpp").read_text()
    assert "MPI_Comm comm_self = MPI_COMM_SELF;" in handles
    assert "STREAM" not in handles, "it has no streams"
    wrappers = (generated / "mpi" / "interposed.cpp").read_text()
    assert '__asm__("MPI_Isend")' in wrappers
    assert "MPI_Isend_c" not in wrappers


def test_what_takes_long_is_entered_by_one_function_for_both_names(generated: Path) -> None:
    """Each costs the compiler milliseconds; where nanoseconds count each name has its own."""
    wrappers = (generated / "mpi" / "interposed.cpp").read_text()
    entered = re.findall(r"noinline\]\] int ((?:active|entered)_P?MPI_(?:Isend|Comm_dup))\(", wrappers)
    assert entered == ["active_MPI_Isend", "active_PMPI_Isend", "entered_MPI_Comm_dup"]
    callers = re.findall(r"entered_MPI_Comm_dup\(next_(P?MPI)_Comm_dup, ([^,]+),", wrappers)
    assert callers == [("MPI", "__builtin_return_address(0)"), ("PMPI", "nullptr")]


@pytest.mark.full
def test_its_driver_tests_a_receive_and_leaves_nothing(generated: Path, tmp_path: Path) -> None:
    library, program = tmp_path / "libmpi.so.12", tmp_path / "driver"
    include = [f"-I{folder}" for folder in (FAKE, ENGINE / "src", ENGINE / "include", generated)]
    subprocess.run(["gcc", "-shared", "-fPIC", *include, FAKE / "mpi.c", "-o", library], check=True, timeout=120)
    of_engine = ("mpi/progress.cpp", "platform/loaded_object.cpp", "platform/loader.cpp")
    sources = [FAKE / "driver.cpp", *(ENGINE / "src" / name for name in of_engine)]
    link = ["-Wl,--no-as-needed", str(library), f"-Wl,-rpath,{tmp_path}", "-ldl"]
    subprocess.run(["g++", "-std=c++20", *include, *sources, *link, "-o", program], check=True, timeout=120)
    lines = subprocess.check_output([program], text=True, timeout=120).splitlines()
    assert lines == [
        "mpi_test 3 tests, 1 pending, 1 communicators",
        "left: 0 pending, 0 communicators",
        "driver=stream needs MPIX_Stream_progress, which this MPI does not have; use driver=auto",
    ]


@pytest.mark.skipif(not BUILT, reason="the engine is not built")
@pytest.mark.parametrize(
    ("variant", "given", "seen"), [("adaptive", None, "0"), ("adaptive", "1", "1"), ("off", None, None)]
)
def test_progress_run_lets_it_give_its_threads(variant: str, given: str | None, seen: str | None) -> None:
    """MVAPICH2 gives no MPI_THREAD_MULTIPLE while it binds ranks itself; who asked for that keeps it."""
    environment = {name: value for name, value in os.environ.items() if name != "MV2_ENABLE_AFFINITY"}
    environment |= {"MV2_ENABLE_AFFINITY": given} if given else {}
    command = [str(BUILT[0].build_dir / "bin" / "progress-run"), "--variant", variant, "--", "env"]
    lines = subprocess.check_output(command, env=environment, text=True, timeout=120).splitlines()
    found = [line.partition("=")[2] for line in lines if line.startswith("MV2_ENABLE_AFFINITY=")]
    assert found == ([seen] if seen else [])
