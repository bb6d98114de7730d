# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of each function of an mpi.h under `offload`: the nonblocking form where there is one; the documented
exceptions are those of the table."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from harness.base.mpis import MPIS

from .conftest import WHEELS

ENGINE = Path(__file__).resolve().parent.parent
GENERATOR = ENGINE / "src" / "generator"
TABLE = json.loads((GENERATOR / "functions.json").read_text())["offload"]
GROUPS = {name: set(functions) for name, functions in TABLE["waits_for_others"].items() if name != "comment"}
EXCEPTIONS = set().union(*GROUPS.values())
NAMES = """
    Barrier Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv Alltoallw Reduce Allreduce
    Reduce_scatter Reduce_scatter_block Scan Exscan Neighbor_allgather Neighbor_allgatherv Neighbor_alltoall
    Neighbor_alltoallv Neighbor_alltoallw Comm_dup Comm_dup_with_info File_read_all File_write_all File_read_at_all
    File_write_at_all"""
COLLECTIVES = {f"MPI_{name}" for name in NAMES.split()}


def generator(name: str) -> ModuleType:
    sys.path.insert(0, str(GENERATOR))  # its files import one another
    return importlib.import_module(name)


@pytest.fixture(scope="module", params=WHEELS)
def routes(request: pytest.FixtureRequest) -> dict[str, str]:
    """Function -> the body of its route; nothing for those that stay in place or are written by hand."""
    mpi = MPIS[request.param]
    if not mpi.installed():
        pytest.skip(f"{mpi.title} is not installed")
    header = generator("prototypes")
    functions = header.parse_prototypes(header.preprocess("g++", [str(mpi.prefix / "include")], [], header.HEADERS))
    definitions = generator("routes").Routes({function.name: function for function in functions}, TABLE).definitions()
    assert "int MPI_Isend(" in definitions
    return dict(re.findall(r"^int (MPI\w+)\(.*?\) \{\n(.*?)^\}", definitions, re.MULTILINE | re.DOTALL))


def blocking_name(nonblocking: str) -> str:
    """MPI_Ibcast -> MPI_Bcast, MPI_File_iread_at -> MPI_File_read_at."""
    match = re.fullmatch(r"(MPI_(?:(?:File|Comm|Session|Buffer)_)?)[iI](\w)(\w+)", nonblocking)
    if not match:
        return ""
    prefix, first, rest = match.groups()
    return prefix + (first.upper() if prefix == "MPI_" else first) + rest


def test_a_blocking_call_becomes_its_nonblocking_form_where_there_is_one(routes: dict[str, str]) -> None:
    pairs = {blocking_name(name): name for name in routes if blocking_name(name) in routes}
    assert {"MPI_Recv", "MPI_Bcast", "MPI_Alltoallw", "MPI_Comm_dup", "MPI_File_write_all", "MPI_Mrecv"} <= set(pairs)
    for blocking, nonblocking in pairs.items():
        body = routes[blocking]
        two = blocking.startswith("MPI_Sendrecv")
        both = [re.sub("Isendrecv(_replace)?", name, nonblocking) for name in ("Isend", "Irecv")]
        assert all(f'("{name}")' in body for name in (both if two else [nonblocking])), blocking
        stays = f"if (collectives_block()) return collective([&] {{ return next_{blocking}.get()("
        assert body.count(stays) == (blocking.removesuffix("_c") in COLLECTIVES), blocking
        assert not re.search(r"(execute|borrow)\(", body), blocking


def test_the_exceptions_are_executed_as_they_are(routes: dict[str, str]) -> None:
    here = EXCEPTIONS & set(routes)
    assert len(here) > len(EXCEPTIONS) * 0.9
    for name in here:
        assert re.search(rf"\b(execute|borrow)_waiting\(.*next_{name}\.get\(\)", routes[name], re.DOTALL), name


# MVAPICH2 2.3, of the papers, which no machine of ours has: the engine's driver and flags, held against its shape.
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
