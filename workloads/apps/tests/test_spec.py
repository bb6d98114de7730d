# SPDX-License-Identifier: BSD-3-Clause
"""SPEC MPI2007's result files: synthetic ones, which say that they are, since the suite is licensed."""

from __future__ import annotations

import pytest

from workloads.apps import spec
from workloads.apps.reading import Damaged
from workloads.apps.tests.outputs import SYNTHETIC


def printed(name: str, size: str = "mtest") -> str:
    """As the driver prints a result file, after runspec's own words."""
    return f"runspec v1234\n\noverlap-bench: SPEC MPI2007 {size}, an estimate: {name}\n{SYNTHETIC[name]}"


@pytest.mark.parametrize("name", ["mpi2007.rsf", "mpi2007.csv"])
def test_both_kinds_of_result_file_say_the_same(name: str) -> None:
    rows = {str(row.point["benchmark"]): row for row in spec.results(printed(name)).rows}
    assert set(rows) == {"104.milc", "113.GemsFDTD", "126.lammps", "137.lu"}
    assert {row.point["size"] for row in rows.values()} == {"mtest"}
    assert rows["104.milc"].samples == {"time_s": pytest.approx(12.345678)}
    assert rows["126.lammps"].samples == {"time_s": 7.5}, "of several iterations the last"
    assert rows["113.GemsFDTD"].wrong.startswith("its own verification says that its results are wrong")
    assert (rows["137.lu"].wrong, rows["137.lu"].samples) == ("it was not built", {})


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("mpi2007.rsf", "overlap-bench: SPEC", "overlap: SPEC", "its runspec left no result file"),
        ("mpi2007.rsf", "spec.mpi2007.results", "spec.cpu2006.results", "its result file mpi2007.rsf has no results"),
        ("mpi2007.rsf", "12.345678", "soon", "reported time of 104.milc: 'soon' is no number"),
        ("mpi2007.csv", "Full Results Table", "Table", "its result file has no Full Results Table"),
        ("mpi2007.csv", "Benchmark,", "Code,", "its Full Results Table has no head"),
    ],
)
def test_what_is_damaged_is_a_sentence(name: str, old: str, new: str, said: str) -> None:
    text = printed(name)
    assert old in text
    with pytest.raises(Damaged, match=said):
        spec.results(text.replace(old, new))


def test_columns_that_call_themselves_estimates_are_the_same() -> None:
    text = printed("mpi2007.csv")
    estimated = text.replace(
        '"Base Run Time","Base Ratio","Base Sel', '"Est. Base Run Time","Est. Base Ratio","Base Sel'
    )
    assert estimated != text
    assert spec.results(estimated) == spec.results(text)


def test_where_there_is_no_licence_the_reason_says_so() -> None:
    assert spec.SPEC_MPI2007.absent().startswith("not found: licensed: SPEC_MPI2007, or apps in the site's file")


def test_the_suites_are_those_of_its_documents() -> None:
    assert len(spec.MEDIUM) == 13
    assert len(spec.LARGE) == 12
    for case in spec.SPEC_MPI2007.cases:
        points = [{"benchmark": "126.lammps", "size": "mtest"}, {"benchmark": "137.lu", "size": "mtest"}]
        assert case.words(points) == ["--size=mtest", "--ranks=2", "126.lammps", "137.lu"]
