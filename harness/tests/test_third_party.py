# SPDX-License-Identifier: BSD-3-Clause
"""Other people's codes: found or skipped with a sentence, run under the engine, read, written down as records."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from analysis.documents.cross_check import comparisons
from analysis.evidence import Evidence
from analysis.records.load import load
from harness.base import archive
from harness.base.mpis import MPIS
from harness.base.paths import ROOT
from harness.cli import main
from harness.job import records
from harness.tests.sessions import bench, latest, reasons, results, state
from workloads.apps import find, table

__all__ = ["results", "state"]  # fixtures


# Case -> a part of its right result, and a wrong one. Others say themselves whether they are right: NPB, HPCG, P3DFFT.
RESULTS = {
    "dolfinx-poisson-pipecg": ("52.18", "52.28"),
    "lammps-melt": ("-4.6134", "-4.6135"),
    "meep-waveguide": ("2.170", "2.171"),
    "openfoam-cavity": ("p 0.0006", "p 0.0007"),
    "quantum-espresso-silicon": ("-15.8508", "-15.8509"),
}


@pytest.mark.parametrize("case", RESULTS)
def test_the_right_result_is_known_and_not_only_that_of_bare(case: str) -> None:
    """Of applications that do not verify themselves: else one that is wrong each time would pass."""
    session = archive.folder_of(ROOT / "results/reference/codes-debian-openmpi")
    kept = (session / "records").glob(f"*{case}.*.jsonl")
    ends = [records.read(path).end or {} for path in kept]
    assert len(ends) >= 24
    for result in {end["result"] for end in ends}:
        assert re.fullmatch(table.CASES[case][1].result, result)
        assert not re.fullmatch(table.CASES[case][1].result, result.replace(*RESULTS[case]))


def test_every_code_is_listed_with_how_to_get_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "xhpcg"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["apps"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line.strip()}
    assert set(lines) >= {code.name for code in table.CODES}
    assert f"{program}, PATH; run as hpcg-small" in lines["hpcg"]
    assert "no study runs it" in lines["examl"]
    assert "./bench apps install lammps" in lines["lammps"]
    assert "licensed: SPEC_MPI2007, or apps in" in lines["spec-mpi2007"]


def test_a_folder_that_a_site_names_comes_first(tmp_path: Path) -> None:
    (code,) = [code for code in table.CODES if code.name == "lammps"]
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "lmp"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    found = find.find(code, ["lmp"], {"lammps": str(tmp_path)})
    assert found == find.Found(program, "the site's file")


@pytest.mark.full
@pytest.mark.mpi
@pytest.mark.vcluster
@pytest.mark.usefixtures("state")
def test_imb_runs_on_mpich_under_the_engine(results: Path) -> None:
    if not (MPIS["mpich"].installed() and MPIS["intel-mpi"].installed()):
        pytest.skip("the wheels of MPICH and Intel MPI are not both installed")
    done = bench("run", "imb-nonblocking-collectives", "--mpi", "mpich", "--scale", "test")
    assert done.returncode == 0, done.stderr
    session = latest(results)
    for variant in ("bare", "adaptive"):
        (record,) = [records.read(path) for path in (session / "records").glob(f"*.{variant}.jsonl")]
        assert len(record.points) == math.prod(map(len, table.CASES["imb-nonblocking-collectives"][1].points.values()))
        assert {line["status"] for line in record.points} == {"ok"}
        assert all(line["samples"]["overall_s"][0] > 0 for line in record.points)
        assert record.header is not None
        assert record.header["quantities"]["overall_s"]["leading"]
    assert (session / "figures" / "third_party.png").exists()


REAL = ("lammps-melt", "openfoam-cavity", "quantum-espresso-silicon", "dolfinx-poisson-cg", "meep-waveguide")


@pytest.mark.full
@pytest.mark.mpi
@pytest.mark.vcluster
@pytest.mark.usefixtures("state")
@pytest.mark.parametrize("case", REAL)
def test_a_program_of_the_distribution_has_the_same_results_under_the_engine(results: Path, case: str) -> None:
    code, row = table.CASES[case]
    if not MPIS["debian-openmpi"].installed() or find.find(code, row.programs()) is None:
        pytest.skip(f"Debian's Open MPI and {code.title} are not both installed")
    variants = ["bare", "adaptive", "idle", "offload"]
    words = ("--mpi", "debian-openmpi", "--scale", "test", "--variant", ",".join(variants))
    done = bench("run", case, *words)
    assert done.returncode == 0, done.stderr
    ends = {}
    for variant in variants:
        (record,) = [records.read(path) for path in (latest(results) / "records").glob(f"*.{variant}.jsonl")]
        assert [line["status"] for line in record.points] == ["ok"]
        assert record.end is not None
        assert [rank["engine"] and rank["engine"]["preset"] for rank in record.end["ranks"]] == (
            [] if variant == "bare" else [variant] * row.ranks
        )
        ends[variant] = record.end["result"]
    assert len(set(ends.values())) == 1
    assert ends["bare"]


@pytest.mark.full
@pytest.mark.mpi
@pytest.mark.vcluster
@pytest.mark.usefixtures("state")
def test_imb_stands_beside_our_numbers_of_the_same_session(results: Path) -> None:
    if not (MPIS["mpich"].installed() and MPIS["intel-mpi"].installed()):
        pytest.skip("the wheels of MPICH and Intel MPI are not both installed")
    studies = [f"cross-check-{name}" for name in ("latency", "collectives", "imb-point-to-point", "osu-latency")]
    theirs = "cross-check-imb-nonblocking-collectives"
    done = bench("run", *studies, theirs, "--mpi", "mpich", "--scale", "test", "--variant", "bare")
    assert done.returncode == 0, done.stderr
    found = comparisons(Evidence(load([latest(results)])))
    assert {one.study for one in found} >= {theirs, "cross-check-imb-point-to-point"}
    assert {one.what.partition(":")[0] for one in found} >= {"alone", "overlap", "latency, 1 KB", "bandwidth, 1 MB"}
    if find.find(table.CASES["osu-latency"][0]) is None:
        assert any("spack install osu-micro-benchmarks" in why for why in reasons(latest(results)).values())


@pytest.mark.mpi
def test_a_code_that_is_not_there_for_this_mpi_is_skipped_with_the_reason(results: Path) -> None:
    if not MPIS["mpich"].installed():
        pytest.skip("MPICH (PyPI) is not installed")
    here = find.find(table.CASES["lammps-melt"][0], ["lmp"])
    done = bench("run", "lammps-melt", "--mpi", "mpich", "--scale", "test", "--system", "local")
    assert done.returncode == 0, done.stderr
    (why,) = set(reasons(latest(results)).values())
    if here is None:
        assert why.startswith("not found, install it with: ./bench apps install lammps")
    else:  # Debian's
        assert why.startswith(f"{here.path} (PATH): it links another MPI: ")
