# SPDX-License-Identifier: BSD-3-Clause
"""./bench apps: the folders of a site, what a code lacks beside its program, and what else is said of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.commands.apps import _line
from harness.setup import packages
from harness.tests.test_faults_input import as_file, changed, good, written
from workloads.apps import find, table
from workloads.apps.applications import QUANTUM_ESPRESSO, TACHYON

__all__ = ["good"]  # a fixture


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
    (code,) = [code for code in table.CODES if code.name == "minife"]
    folders = {}
    for mpi in ("cray", "mpich"):
        program(tmp_path / mpi / code.names[0])
        folders[mpi] = {"minife": str(tmp_path / mpi)}
    said = _line(code, folders)
    assert f"cray: {tmp_path}/cray/{code.names[0]}, the site's file; mpich: {tmp_path}/mpich/" in said


def test_a_code_without_a_file_that_its_case_reads_is_not_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Quantum ESPRESSO without the package of its pseudopotentials: it is installed, though pw.x is there."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    program(tmp_path / "bin" / "pw.x")
    asked: list[list[str]] = []
    monkeypatch.setattr(packages, "install", asked.append)
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
    (openfoam,) = [code for code in table.CODES if code.name == "openfoam"]
    program(tmp_path / "icoFoam")
    program(tmp_path / "blockMesh")
    assert find.lacks(replace(openfoam, places=())) == ["decomposePar"]
    program(tmp_path / "tachyon")
    absent = replace(TACHYON, files=("nowhere/libtachyon-openmpi.so.0",))
    assert find.lacks(absent) == ["libtachyon-openmpi.so.0"]
    assert find.lacks(replace(TACHYON, files=())) == []


def test_a_code_that_no_study_runs_says_how_it_is_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["apps"]) == 0
    said = lines(capsys)
    assert "IMB-MT wants libiomp5.so besides" in said["intel-mpi-benchmarks"]
    for name, words in (("tachyon", "-- tachyon SCENE.dat"), ("examl", "-s 49.binary -t /usr/share/doc/examl/")):
        assert "no study runs it" in said[name]
        assert "./bench mpirun --mpi debian-openmpi --variant adaptive -n 2 -- " in said[name]
        assert words in said[name]
    assert said["spec-mpi2007"].count("licensed: SPEC_MPI2007") <= 1
