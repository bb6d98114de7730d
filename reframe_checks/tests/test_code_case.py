# SPDX-License-Identifier: BSD-3-Clause
"""A case of somebody else's code as a program of a job: its folder is filled, its helpers are found, or why not."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.base.errors import UsageError
from harness.base.mpis import MPIS
from harness.codes.code import Case, Code
from harness.codes.find import Found, every
from harness.codes.known import CASES
from harness.job.program import Program
from harness.sites.systems import Request, by_name
from reframe_checks import code_case
from reframe_checks.base_check import WorkloadCheck
from reframe_checks.catalogue import studies

ENVIRON = {"mpi": "mpich"}
Make = Callable[..., Path]


def executable(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def made(tmp_path: Path) -> Make:
    """Makes programs in a folder as that of an installation."""

    def make(*names: str) -> Path:
        for name in names:
            executable(tmp_path / "usr" / "bin" / name, "#!/bin/sh\n")
        return tmp_path / "usr"

    return make


def of(code: Code, case: Case, usr: Path, stage: Path) -> Program | str:
    """As a check makes it, of an installation that a site's file names."""
    stage.mkdir(exist_ok=True)
    environ = ENVIRON | {"apps": {code.name: str(usr)}}
    points = [dict(zip(case.points, values, strict=True)) for values in zip(*case.points.values(), strict=False)]
    return code_case.program(code, case, Found(usr / "bin" / case.program, "the site's file"), points, stage, environ)


def test_its_files_are_there_and_its_helpers_are_of_the_same_installation(made: Make, tmp_path: Path) -> None:
    code, case = CASES["openfoam-cavity"]
    usr = made("icoFoam", "blockMesh", "decomposePar")
    program = of(code, case, usr, tmp_path / "stage")
    assert isinstance(program, Program)
    assert program.command == [str(usr / "bin" / "icoFoam"), "-parallel"]
    assert program.prepare == [[str(usr / "bin" / "blockMesh")], [str(usr / "bin" / "decomposePar"), "-force"]]
    assert "application icoFoam" in (tmp_path / "stage" / "system" / "controlDict").read_text()
    assert program.name == "openfoam"


def test_a_helper_that_is_lacking_is_named(made: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    code, case = CASES["openfoam-cavity"]
    said = of(code, case, made("icoFoam", "blockMesh"), tmp_path / "stage")
    assert said == f"its decomposePar is not found; install it with: {code.how_to_get()}"


def test_a_file_of_its_installation_is_copied_or_named(made: Make, tmp_path: Path) -> None:
    code, case = CASES["quantum-espresso-silicon"]
    usr = made("pw.x")
    said = of(code, case, usr, tmp_path / "stage")
    assert said == f"it lacks Si.pz-vbc.UPF, which is installed with it ({usr / 'bin' / 'pw.x'})"
    pseudo = usr / "share" / "espresso" / "pseudo" / "Si.pz-vbc.UPF"
    pseudo.parent.mkdir(parents=True)
    pseudo.write_text("silicon")
    assert isinstance(of(code, case, usr, tmp_path / "stage"), Program)
    assert (tmp_path / "stage" / "Si.pz-vbc.UPF").read_text() == "silicon"


SPACK = """#!/bin/sh
[ "$*" = "find --format {{prefix}} openfoam" ] || exit 1
printf '%s\\n' {root}/of-cray {root}/of-mpich
"""


def test_of_several_installations_in_spack_the_one_for_the_mpi_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, case = CASES["openfoam-cavity"]
    for name in ("of-cray", "of-mpich"):
        for program in ("icoFoam", "blockMesh", "decomposePar"):
            executable(tmp_path / name / "bin" / program, "#!/bin/sh\n")
    executable(tmp_path / "spack", SPACK.format(root=tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    places = list(every(code, case.programs()))
    assert [place.path.parent.parent.name for place in places] == ["of-cray", "of-mpich"]

    def linked(program: str, library: str, _: object) -> str:
        return "" if library in program else f"it links another MPI, not {library}"

    monkeypatch.setattr(code_case, "another_mpi", linked)
    found = code_case.of_mpi(places, "mpich", {})
    assert isinstance(found, Found)
    assert found.path == tmp_path / "of-mpich" / "bin" / "icoFoam"
    (tmp_path / "stage").mkdir()
    made = code_case.program(code, case, found, [], tmp_path / "stage", ENVIRON)
    assert isinstance(made, Program)
    assert {Path(words[0]).parent for words in made.prepare} == {found.path.parent}, "its helpers are its own"
    said = code_case.of_mpi(places, "intel", {})
    assert said == "; ".join(f"{place.path} (Spack): it links another MPI, not intel" for place in places)
    assert code_case.of_mpi([], "mpich", {}) == ""


def test_a_program_of_another_mpi_hides_none_in_a_later_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Intel MPI's wheels hide the benchmarks on PATH, and the distribution's on PATH those of Spack."""
    code, case = CASES["openfoam-cavity"]
    folders = [tmp_path / name for name in ("for-openmpi", "for-mpich")]
    for folder in (*folders, tmp_path / "of-cray" / "bin", tmp_path / "named"):
        executable(folder / "icoFoam", "#!/bin/sh\n")
    executable(folders[0] / "spack", SPACK.format(root=tmp_path))
    monkeypatch.setenv("PATH", os.pathsep.join(map(str, [*folders, folders[0]])))
    monkeypatch.setattr(code_case, "another_mpi", lambda program, library, _: "" if library in program else "another")
    places = list(every(code, case.programs()))
    assert [place.path.parent for place in places][:2] == folders, "each once, in the order of PATH"
    for mpi, found in {
        "for-mpich": Found(folders[1] / "icoFoam", "PATH"),
        "of-cray": Found(tmp_path / "of-cray" / "bin" / "icoFoam", "Spack"),
    }.items():
        assert code_case.of_mpi(places, mpi, {}) == found
    named = every(code, case.programs(), {"openfoam": str(tmp_path / "named")})
    assert [place.where for place in named] == ["the site's file"], "who names a folder means that one"


def test_what_it_asks_its_environment_for(made: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WM_PROJECT_DIR", raising=False)
    _, case = CASES["openfoam-cavity"]
    found = Found(made("icoFoam") / "bin" / "icoFoam", "PATH")
    assert code_case.environment(case, found, "mpich") == {}, "there is no such folder"
    (tmp_path / "usr" / "share" / "openfoam").mkdir(parents=True)
    here = {"WM_PROJECT_DIR": str(tmp_path / "usr" / "share" / "openfoam")}
    assert code_case.environment(case, found, "mpich") == here
    monkeypatch.setenv("WM_PROJECT_DIR", "/opt/openfoam")
    assert code_case.environment(case, found, "mpich") == {}, "the caller knows better"
    driven = code_case.environment(replace(case, driver="runspec.py"), found, "mpich")
    assert driven["PATH"].startswith(str(MPIS["mpich"].build_dir)), "what is built is built with this MPI"
    assert code_case.environment(replace(case, driver="runspec.py"), found, "a site's") == {}


def test_an_axis_stands_for_its_values() -> None:
    case = replace(CASES["lammps-melt"][1], arguments=("-n", "{atoms}", "--steps={steps}", "{none}"))
    points = [{"atoms": atoms, "steps": 100} for atoms in (1, 2)]
    assert case.words(points) == ["-n", "1", "2", "--steps=100", "{none}"]
    assert case.words([]) == list(case.arguments)


def test_a_run_says_how_many_ranks_a_code_gets(made: Make, tmp_path: Path) -> None:
    """In the launch and in the file that divides OpenFOAM's cells; a code whose input is for two stays at two."""
    study = studies()["openfoam-cavity"]
    assert (study.tasks(2), study.asked({}).tasks(2), study.asked({"ranks": "4"}).tasks(2)) == (2, 2, 4)
    asked = Request.of([study], by_name("local"), ["mpich"], [], settings={"ranks": "4"})
    assert [job.study.tasks(2) for job in asked.jobs()] == [4]
    check = SimpleNamespace(study=study, scale="test", asked=SimpleNamespace(settings={"ranks": "4"}))
    WorkloadCheck.choose_scale(check)
    assert check.study.tasks(2) == 4
    code, case = CASES["openfoam-cavity"]
    program = of(code, replace(case, ranks=4), made("icoFoam", "blockMesh", "decomposePar"), tmp_path / "stage")
    assert isinstance(program, Program)
    assert program.ranks == 4
    divided = (tmp_path / "stage" / "system" / "decomposeParDict").read_text()
    assert "numberOfSubdomains 4;" in divided
    assert "n (4 1 1)" in divided
    with pytest.raises(UsageError, match="Study osu-latency runs on 2 ranks: what it reads is for as many"):
        studies()["osu-latency"].asked({"ranks": "4"})
    with pytest.raises(UsageError, match="more than 0 is wanted"):
        study.asked({"ranks": "0"})
    with pytest.raises(UsageError, match="has no parameter 'ranks'"):
        studies()["overlap-ratio"].scale("test", {"ranks": "4"})


def test_each_case_has_its_own_name_and_can_be_prepared() -> None:
    assert len(CASES) == sum(len(code.cases) for code in {code.name: code for code, _ in CASES.values()}.values())
    for code, case in CASES.values():
        assert set(case.programs()) <= set(code.names), case.name
        assert sum(quantity.leading for quantity in case.quantities.values()) <= 1, case.name
        if case.driver:
            assert (code_case.CODES / case.driver).is_file()
