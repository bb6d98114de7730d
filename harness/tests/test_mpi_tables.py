# SPDX-License-Identifier: BSD-3-Clause
"""The tables of MPI variables: each line has a source, a default, a way to read it back, and values in its range."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable

import pytest

from harness.cli import main
from harness.sessions import space
from harness.sessions.space import Table, Variable
from spack_env.table import ENVIRONMENTS

UNDOCUMENTED = "not documented"
NUMBER = re.compile(r"-?\d+")
TABLES = space.tables()
LINES = {one.name: (table, one) for table in TABLES for one in table.variables}


def inside(value: str, variable: Variable, table: Table) -> bool:
    """Whether it may have this value, whatever the other variables of its table are given in a race."""
    alternatives = variable.range.partition(" (")[0].split(", ")
    return any(one in (value, UNDOCUMENTED) or between(value, one, table) for one in alternatives)


def between(value: str, alternative: str, table: Table) -> bool:
    found = re.fullmatch(r"(\S+) to (\S+)", alternative) or re.fullmatch(r"from (\S+)()", alternative)
    if not found or not NUMBER.fullmatch(value):
        return False
    low, high = end(found[1], table, max, -math.inf), end(found[2], table, min, math.inf)
    return low <= int(value) <= high


def end(word: str, table: Table, of_all: Callable[[Iterable[float]], float], unknown: float) -> float:
    """A number, or what a variable of the table may be at worst; no end and the MPI's own constants are not known."""
    if NUMBER.fullmatch(word):
        return int(word)
    others = [one for one in table.variables if word and word in (one.name, one.key)]
    return of_all([float(number) for one in others for number in (one.default, *one.values)]) if others else unknown


@pytest.mark.parametrize("name", LINES)
def test_what_is_tried_lies_inside_the_documented_range(name: str) -> None:
    table, line = LINES[name]
    outside = [value for value in line.values if not inside(value, line, table)]
    assert not outside, f"{name}: {outside} are not of '{line.range}'"
    if NUMBER.fullmatch(line.default):
        assert inside(line.default, line, table), f"{name}: its default {line.default} is not of '{line.range}'"


def test_tables_have_sources_defaults_values_and_a_way_to_read_each_back() -> None:
    assert {"MPICH", "UCX", "Open MPI", "Intel MPI", "HPE Cray MPICH", "MVAPICH2"} <= {one.table for one in TABLES}
    assert len(LINES) == sum(len(table.variables) for table in TABLES), "each variable stands in one table"
    for table in TABLES:
        assert "https://" in table.source, "a reader can open it"
        for one in table.variables:
            assert one.default and one.values and one.meaning and one.range and one.default not in one.values
    assert any(one.name == "OMPI_MCA_btl_tcp_links" for one in space.variables_of("openmpi"))
    assert not any(one.name.startswith("OMPI") for one in space.variables_of("debian-mpich"))
    assert LINES["MPIR_CVAR_CH4_OFI_RNDV_PROTOCOL"][1].values == ["pipeline", "read", "write", "direct"]
    assert {f"I_MPI_ASYNC_PROGRESS{end}" for end in ("", "_THREADS", "_PIN")} <= set(LINES)


OWN = {"mpich": "MPIR_", "openmpi": "OMPI_", "intel": "I_MPI_", "cray": "MPICH_", "mvapich": "MVP_", "mvapich2": "MV2_"}


@pytest.mark.parametrize("name", sorted({*ENVIRONMENTS, "mvapich-4.1", "mvapich2-2.3.7"} - {"nmad", "third-party"}))
def test_every_mpi_that_spack_builds_has_a_table_of_its_own(name: str) -> None:
    first = name.partition("-")[0]
    found = [one.name for one in space.variables_of(name)]
    assert any(one.startswith(OWN[first]) for one in found)
    assert not any(one.startswith(OWN["mvapich2" if first == "mvapich" else "mvapich"]) for one in found)


def test_each_is_read_back_as_its_table_says(capsys: pytest.CaptureFixture[str]) -> None:
    """Which MPI has PSM2 below it its name need not say."""
    asked = ("MVP_ASYNC_PROGRESS", "MV2_ASYNC_PROGRESS", "MV2_IBA_EAGER_THRESHOLD", "PSM2_RCVTHREAD")
    assert {probe.name: (probe.how, probe.key) for probe in space.probes_of(dict.fromkeys(asked, "1"))} == {
        "MVP_ASYNC_PROGRESS": ("mpi_t", "MPIR_CVAR_ASYNC_PROGRESS"),
        "MV2_ASYNC_PROGRESS": ("mpi_t", "MPIR_CVAR_ASYNC_PROGRESS"),
        "MV2_IBA_EAGER_THRESHOLD": ("mvapich2", "MV2_IBA_EAGER_THRESHOLD"),
        "PSM2_RCVTHREAD": ("psm2", "PSM2_RCVTHREAD"),
    }
    assert main(["tune", "--list"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    for words in ("UCX_RNDV_THRESH", "as documented, not run here", "range: 0, 1; tried: 1; read back by cray"):
        assert words in said
