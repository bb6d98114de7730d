# SPDX-License-Identifier: BSD-3-Clause
"""Other people's codes: found or what they lack, run under the engine, read, written down as records."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.evidence import Evidence
from analysis.records.load import load
from analysis.studies.cross_check import comparisons
from harness.base.mpis import MPIS
from harness.cli import main
from harness.codes import find, known
from harness.codes.applications import QUANTUM_ESPRESSO, TACHYON
from harness.commands.programs import _line_of
from harness.job import records
from harness.setup import environment
from harness.tests.sessions import bench, latest, reasons
from harness.tests.test_faults_input import as_file, changed, good, written

__all__ = ["good"]  # a fixture

# Case -> what Debian's program gave, a part of it, and a wrong one. NPB, HPCG, P3DFFT say whether they are right.
RIGHT = {
    "dolfinx-poisson-pipecg": ("206 iterations, norm 52.1852", "52.18", "52.28"),
    "lammps-melt": ("0: -4.6134356, 100: -4.6223613", "-4.6134", "-4.6135"),
    "meep-waveguide": (
        "25.0: 1.2655976928569643e-5, 50.0: 2.170574574605286e-5, 75.0: -4.621579137992166e-4, "
        "100.0: 0.0025118803133796904",
        "2.170", "2.171",
    ),
    "openfoam-cavity": (
        "0.05 s: Ux 0.000265319 8.74062e-06, Uy 0.00056642 9.51346e-06, p 0.000659487 3.29106e-05, "
        "p 0.000627569 9.10592e-07",
        "p 0.0006", "p 0.0007",
    ),
    "quantum-espresso-silicon": ("-15.85081793 Ry, accuracy below 1e-08", "-15.8508", "-15.8509"),
}  # fmt: skip


@pytest.mark.parametrize("case", RIGHT)
def test_the_right_result_is_known_and_not_only_that_of_bare(case: str) -> None:
    """Of applications that do not verify themselves: else one that is wrong each time would pass."""
    result, right, wrong = RIGHT[case]
    assert re.fullmatch(known.CASES[case][1].result, result)
    assert not re.fullmatch(known.CASES[case][1].result, result.replace(right, wrong))


@pytest.mark.long
@pytest.mark.mpi
@pytest.mark.vcluster
@pytest.mark.usefixtures("mpich", "state")
def test_imb_runs_on_mpich_under_the_engine(results: Path) -> None:
    if not MPIS["intel-mpi"].installed():
        pytest.skip("Intel MPI, which brings IMB, is not installed")
    done = bench("run", "imb-nonblocking-collectives", "--mpi", "mpich", "--scale", "test")
    assert done.returncode == 0, done.stderr
    session = latest(results)
    for variant in ("bare", "adaptive"):
        (record,) = [records.read(path) for path in (session / "records").glob(f"*.{variant}.jsonl")]
        assert len(record.points) == math.prod(map(len, known.CASES["imb-nonblocking-collectives"][1].points.values()))
        assert {line["status"] for line in record.points} == {"ok"}
        assert all(line["samples"]["overall_s"][0] > 0 for line in record.points)
        assert record.header is not None
        assert record.header["quantities"]["overall_s"]["leading"]
    assert (session / "figures" / "third_party.png").exists()


REAL = ("lammps-melt", "openfoam-cavity", "quantum-espresso-silicon", "dolfinx-poisson-cg", "meep-waveguide")


@pytest.mark.long
@pytest.mark.mpi
@pytest.mark.vcluster
@pytest.mark.usefixtures("state")
@pytest.mark.parametrize("case", REAL)
def test_a_program_of_the_distribution_has_the_same_results_under_the_engine(results: Path, case: str) -> None:
    code, row = known.CASES[case]
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


@pytest.mark.long
@pytest.mark.mpi
@pytest.mark.vcluster
@pytest.mark.usefixtures("state")
def test_imb_stands_beside_our_numbers_of_the_same_session(results: Path) -> None:
    if not MPIS["intel-mpi"].installed():
        pytest.skip("Intel MPI, which brings IMB, is not installed")
    studies = [f"cross-check-{name}" for name in ("latency", "collectives", "imb-point-to-point", "osu-latency")]
    theirs = "cross-check-imb-nonblocking-collectives"
    done = bench("run", *studies, theirs, "--mpi", "mpich", "--scale", "test", "--variant", "bare")
    assert done.returncode == 0, done.stderr
    found = comparisons(Evidence(load([latest(results)])))
    assert {one.study for one in found} >= {theirs, "cross-check-imb-point-to-point"}
    assert {one.what.partition(":")[0] for one in found} >= {"alone", "overlap", "latency, 1 KB", "bandwidth, 1 MB"}
    if find.find(known.CASES["osu-latency"][0]) is None:
        assert any("spack install osu-micro-benchmarks" in why for why in reasons(latest(results)).values())


@pytest.mark.mpi
@pytest.mark.usefixtures("mpich")
def test_a_code_that_is_not_there_for_this_mpi_is_skipped_with_the_reason(results: Path) -> None:
    here = find.find(known.CASES["lammps-melt"][0], ["lmp"])
    done = bench("run", "lammps-melt", "--mpi", "mpich", "--scale", "test", "--system", "local")
    assert done.returncode == 0, done.stderr
    (why,) = set(reasons(latest(results)).values())
    if here is None:
        assert why.startswith("not found, install it with: ./bench apps install lammps")
    else:  # Debian's
        assert why.startswith(f"{here.path} (PATH): it links another MPI: ")


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def lines(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    return {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line.strip()}


def test_codes_are_looked_for_in_the_folders_of_the_sites_file(
    good: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lmp = program(tmp_path / "lammps" / "bin" / "lmp")
    where = ("environments", 0, "extras", "apps")
    site = written(tmp_path, as_file(changed(good, where, {"lammps": str(tmp_path / "lammps")})))
    assert main(["apps", "--system", str(site)]) == 0
    assert f"{lmp}, the site's file; run as lammps-melt" in lines(capsys)["lammps"]


def test_what_is_elsewhere_for_another_mpi_is_said_of_each(tmp_path: Path) -> None:
    (code,) = [code for code in known.CODES if code.name == "minife"]
    folders = {}
    for mpi in ("cray", "mpich"):
        program(tmp_path / mpi / code.names[0])
        folders[mpi] = {"minife": str(tmp_path / mpi)}
    said = _line_of(code, folders)
    assert f"cray: {tmp_path}/cray/{code.names[0]}, the site's file; mpich: {tmp_path}/mpich/" in said


def test_a_code_without_a_file_that_its_case_reads_is_not_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Quantum ESPRESSO without the package of its pseudopotentials: it is installed, though pw.x is there."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    program(tmp_path / "bin" / "pw.x")
    asked: list[list[str]] = []
    monkeypatch.setattr(environment, "install_packages", asked.append)
    assert find.lacks(QUANTUM_ESPRESSO) == ["Si.pz-vbc.UPF"]
    assert main(["apps", "install", "quantum-espresso"]) == 0
    assert asked == [["quantum-espresso", "quantum-espresso-data"]]
    assert "pw.x, PATH, lacks Si.pz-vbc.UPF: ./bench apps install" in lines(capsys)["quantum-espresso"]
    (tmp_path / "share" / "espresso" / "pseudo").mkdir(parents=True)
    (tmp_path / "share" / "espresso" / "pseudo" / "Si.pz-vbc.UPF").write_text("")
    assert find.lacks(QUANTUM_ESPRESSO) == []
    assert main(["apps", "install", "quantum-espresso"]) == 0
    assert asked[1:] == [[]]


def test_a_helper_and_a_library_are_needed_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (openfoam,) = [code for code in known.CODES if code.name == "openfoam"]
    program(tmp_path / "icoFoam")
    program(tmp_path / "blockMesh")
    assert find.lacks(replace(openfoam, places=())) == ["decomposePar"]
    program(tmp_path / "tachyon")
    absent = replace(TACHYON, files=("nowhere/libtachyon-openmpi.so.0",))
    assert find.lacks(absent) == ["libtachyon-openmpi.so.0"]
    assert find.lacks(replace(TACHYON, files=())) == []


def test_every_code_is_listed_with_how_to_get_or_run_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = program(tmp_path / "xhpcg")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["apps"]) == 0
    said = lines(capsys)
    assert set(said) >= {code.name for code in known.CODES}
    for name, words in {
        "hpcg": f"{found}, PATH; run as hpcg-small",
        "lammps": "./bench apps install lammps",
        "spec-mpi2007": "licensed: SPEC_MPI2007, or apps in",
        "tachyon": "no study runs it",
        "examl": "./bench mpirun --mpi debian-openmpi --variant adaptive -n 2 -- ",
    }.items():
        assert words in said[name]
