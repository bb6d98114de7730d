# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of each function of an mpi.h under `offload`: the nonblocking form where there is one; the documented
exceptions are those of the table."""

from __future__ import annotations

import importlib
import json
import re
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
